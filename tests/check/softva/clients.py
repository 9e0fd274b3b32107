#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Real VA-API clients on the software driver: vainfo lists it, and every frame that
`ffmpeg -hwaccel vaapi` decodes with it equals ffmpeg's own software decoder's, or for the media
folder the list of md5s that comes with it. TAP on stdout."""

import argparse
import csv
import os
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

import streams  # noqa: E402

ROOT = Path(__file__).resolve().parents[3]
DRIVER = "dxvasoft"
HANG_SECONDS = 300  # a guard against hangs on a loaded machine, no measure of speed

# x264's options for each clip, frame size, and whether the picture is interlaced.
CLIPS = {
    "CABAC, B pyramid, weighted prediction": ("--bframes 5 --b-pyramid normal --weightp 2 --weightb", "352x288"),
    "CAVLC, no B frames": ("--no-cabac --bframes 0 --no-8x8dct", "352x288"),
    "plain Baseline": ("--profile baseline", "352x288"),
    "CAVLC with B frames, spatial direct": ("--no-cabac --bframes 3 --direct spatial", "352x288"),
    "temporal direct": ("--bframes 3 --direct temporal --b-adapt 0", "352x288"),
    "MBAFF, top field first": ("--tff --bframes 3 --weightp 1", "352x288"),
    "MBAFF, bottom field first, CAVLC": ("--bff --no-cabac --bframes 2", "352x288"),
    "five slices": ("--slices 5 --bframes 2", "352x288"),
    "slices of 700 bytes": ("--slice-max-size 700 --bframes 2", "352x288"),
    "JVT scaling matrices": ("--cqm jvt --bframes 2", "352x288"),
    "flat matrices of its own": ("--cqm4i 20,22,24,26,28,30,32,34,36,38,40,42,44,46,48,50 --cqm8p " + ",".join(
        str(16 + i // 2) for i in range(64)), "352x288"),
    "cropped 1918x1078": ("--bframes 2", "1918x1078"),
    "odd in macroblocks, 34x50": ("--bframes 2", "34x50"),
    "intra refresh": ("--intra-refresh --keyint 20", "352x288"),
    "16 reference frames": ("--ref 16 --bframes 3 --b-pyramid strict", "176x144"),
    "open GOP": ("--open-gop --keyint 12 --bframes 3 --b-adapt 0", "352x288"),
    "constrained intra prediction": ("--constrained-intra --bframes 2", "352x288"),
    "intra PCM, quantiser 1": ("--qp 1 --bframes 1", "64x64"),
    "full range": ("--range pc --bframes 2", "352x288"),
}

PROFILES = ("VAProfileH264ConstrainedBaseline", "VAProfileH264Main", "VAProfileH264High", "VAProfileHEVCMain",
            "VAProfileHEVCMain10", "VAProfileVP8Version0_3", "VAProfileVP9Profile0", "VAProfileVP9Profile2",
            "VAProfileMPEG2Simple", "VAProfileMPEG2Main", "VAProfileJPEGBaseline", "VAProfileAV1Profile0")

# The codecs of the media folder that the driver decodes, and what their surfaces hold.
CODECS = {
    "h264": ("nv12",),
    "hevc": ("nv12", "p010le"),
    "vp8": ("nv12",),
    "vp9": ("nv12", "p010le"),
    "mpeg2": ("nv12",),
    "jpeg": ("nv12", "yuvj422p"),
    "av1": ("nv12", "p010le"),
}

# Where ffmpeg's first choice knows no VA-API.
DECODERS = {"av1": "av1"}

# Lists made by converting full range to limited: ffmpeg's own decoder tells what is right.
CONVERTED_LISTS = {
    "av1/dav1d-8bit-vq_suite-Syntax_AV1_mainb8ss420_432x240_003_vq_aom_ctest_4.2.stripped.ivf",
    "av1/dav1d-8bit-vq_suite-Syntax_AV1_mainb8ss420_432x240_012_vq_aom_ctest_4.2.stripped.ivf",
}

# Files that this client cannot get through any VA driver, or shows otherwise than the list by its
# own doing.
EXCEPTIONS = {
    "av1/dav1d-av1-1-b8-03-sizeup.ivf": "ffmpeg decodes a larger AV1 frame into the surfaces that it has",
    "av1/gst-av1c_two_entries.mp4": "ffmpeg decodes a larger AV1 frame into the surfaces that it has",
    "jpeg/jpegdec-non-interleaved-mcu.jpg": "more scans than libavcodec has room for: it aborts",
    "jpeg/jpegdec-progressive3.jpg": "more scans than libavcodec has room for: it aborts",
    "h264/openh264-CVFC1_Sony_C.jsv": "ffmpeg does not crop the left and top of a VA surface",
}

# Files that end within their last picture. What is shown in place of the rest is whatever its memory
# held: libavcodec itself differs with its number of threads.
CUT_OFF = {"hevc/gpac-counter.hvc"}


class Tap:
    """Numbers and prints the cases."""

    def __init__(self) -> None:
        self.count = 0
        self.failed = 0

    def result(self, name: str, problem: str | None, skip: str | None = None) -> None:
        self.count += 1
        name = name.replace("#", "no.")
        if skip is not None:
            print(f"ok {self.count} - {name} # SKIP {skip}")
        elif problem is None:
            print(f"ok {self.count} - {name}")
        else:
            self.failed += 1
            print(f"not ok {self.count} - {name}")
            for line in problem.strip().splitlines()[-12:]:
                print(f"# {line}")
        sys.stdout.flush()

    def finish(self) -> int:
        print(f"1..{self.count}")
        return 1 if self.failed else 0


class Xvfb:
    """One X server for all clients; it picks a free number itself. Without -noreset it starts anew
    whenever no client is left, and refuses the one that comes meanwhile."""

    def __enter__(self) -> str:
        read, write = os.pipe()
        self.process = subprocess.Popen(
            ["Xvfb", "-displayfd", str(write), "-screen", "0", "640x480x24", "-nolisten", "tcp",
             "-noreset"],
            pass_fds=[write], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(write)
        with os.fdopen(read) as answer:
            number = answer.readline().strip()
        if not number:
            self.process.wait()
            raise RuntimeError("Xvfb did not start")
        return f":{number}"

    def __exit__(self, *_: object) -> None:
        self.process.terminate()
        self.process.wait()


class Clients:
    def __init__(self, display: str, drivers: Path) -> None:
        self.display = display
        self.environment = {name: value for name, value in os.environ.items()
                            if not name.startswith(("DXVASOFT_", "LIBVA_"))}
        self.environment |= {"DISPLAY": display, "LIBVA_DRIVER_NAME": DRIVER,
                             "LIBVA_DRIVERS_PATH": str(drivers)}

    def run(self, command: list[str], knobs: dict[str, str] | None = None) -> subprocess.CompletedProcess:
        return subprocess.run(command, env=self.environment | (knobs or {}), text=True, errors="replace",
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              timeout=HANG_SECONDS)

    def decode(self, media: Path, knobs: dict[str, str] | None = None, pixel_format: str = "nv12",
               decoder: str | None = None) -> subprocess.CompletedProcess:
        """Through the driver. Frames stay in surfaces until hwdownload takes them, which fails on
        frames decoded in software: nothing passes here unless the driver made it."""
        return self.run(["ffmpeg", "-nostdin", "-v", "warning", "-init_hw_device", f"vaapi=va:{self.display}",
                         "-hwaccel", "vaapi", "-hwaccel_device", "va", "-hwaccel_output_format", "vaapi",
                         "-noautorotate", "-hwaccel_flags", "allow_profile_mismatch",
                         *(["-c:v", decoder] if decoder else []), "-i", str(media), "-map", "0:v:0",
                         "-vf", f"hwdownload,format={pixel_format}", "-fps_mode", "passthrough", "-noautoscale",
                         "-c:v", "rawvideo", "-bitexact", "-f", "framemd5", "-"], knobs)

    def reference(self, media: Path, pixel_format: str = "nv12") -> subprocess.CompletedProcess:
        return self.run(["ffmpeg", "-nostdin", "-v", "error", "-noautorotate", "-i", str(media), "-map", "0:v:0",
                         "-vf", f"scale=in_range=full:out_range=full,format={pixel_format}", "-fps_mode", "passthrough",
                         "-noautoscale", "-c:v", "rawvideo", "-bitexact", "-f", "framemd5", "-"])


def md5s(output: str) -> list[str]:
    return [line.rsplit(",", 1)[1].strip() for line in output.splitlines()
            if line and not line.startswith("#")]


def compare(got: subprocess.CompletedProcess, expected: list[str], last: int | None = None) -> str | None:
    """Why the frames are not the expected ones, or None. Of those from `last` on only the number counts."""
    frames = md5s(got.stdout)
    if frames[:last] == expected[:last] and len(frames) == len(expected) > 0:
        return None
    if got.returncode < 0:
        return f"{got.stderr}\nffmpeg died of signal {-got.returncode}"
    wrong = [i for i, (a, b) in enumerate(zip(frames, expected)) if a != b]
    where = f", first wrong {wrong[0]}, {len(wrong)} wrong" if wrong else ""
    return f"{got.stderr}\nexit status {got.returncode}, {len(frames)} frames of {len(expected)}{where}"


def guarded(work, *arguments) -> str | None:
    """The problem `work` reports; a client that hangs is one too."""
    try:
        return work(*arguments)
    except subprocess.TimeoutExpired:
        return f"no end after {HANG_SECONDS} s"


def vainfo_problem(clients: Clients) -> str | None:
    answer = clients.run(["vainfo", "--display", "x11"])
    listed = {line.split(":")[0].strip() for line in answer.stdout.splitlines() if "VAEntrypointVLD" in line}
    missing = [profile for profile in PROFILES if profile not in listed]
    if answer.returncode or missing:
        return f"{answer.stdout}{answer.stderr}\nexit status {answer.returncode}, missing {missing}"
    return None


def make_clip(options: str, size: str, folder: Path, name: str) -> Path:
    """A few frames that move, fade and are noisy enough to use every tool of the encoder."""
    raw = folder / f"source-{size}.y4m"
    if not raw.exists():
        subprocess.run(["ffmpeg", "-nostdin", "-v", "error", "-f", "lavfi", "-i",
                        f"testsrc2=s={size}:r=25,noise=alls=12:allf=t,fade=in:0:12", "-frames:v",
                        "12" if size == "1918x1078" else "50", "-pix_fmt", "yuv420p", str(raw)], check=True,
                       stdin=subprocess.DEVNULL, timeout=HANG_SECONDS)
    clip = folder / f"{name}.264"
    subprocess.run(["x264", "--quiet", "--threads", "1", "--preset", "medium", *options.split(), "-o", str(clip),
                    str(raw)], check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL, timeout=HANG_SECONDS)
    return clip


def clip_problem(clients: Clients, clip: Path, knobs: dict[str, str] | None = None,
                 pixel_format: str = "nv12", decoder: str | None = None) -> str | None:
    return compare(clients.decode(clip, knobs, pixel_format, decoder),
                   md5s(clients.reference(clip, pixel_format).stdout))


def test_clips(tap: Tap, clients: Clients, pool: ThreadPoolExecutor, folder: Path) -> None:
    made = {name: make_clip(options, size, folder, f"clip{i}")
            for i, (name, (options, size)) in enumerate(CLIPS.items())}
    problems = {name: pool.submit(guarded, clip_problem, clients, clip) for name, clip in made.items()}
    for name, problem in problems.items():
        tap.result(f"ffmpeg: {name}", problem.result())

    # Whatever a surface looks like in memory, the pictures are the same.
    clip = made["cropped 1918x1078"]
    for knobs in ({"DXVASOFT_LAYOUT": "padded"}, {"DXVASOFT_LAYOUT": "gap"}, {"DXVASOFT_LAYOUT": "two-objects"},
                  {"DXVASOFT_LAYOUT": "dup-fds"}, {"DXVASOFT_PITCH_ALIGN": "7"},
                  {"DXVASOFT_FAULT": "deriveimage:from=1"}):
        text = " ".join(f"{name}={value}" for name, value in knobs.items())
        tap.result(f"ffmpeg: {text}", guarded(clip_problem, clients, clip, knobs))

    # A picture that fails is the client's to skip; the ones it does not touch stay right.
    clip = made["CAVLC, no B frames"]
    for fault in ("endpicture:at=20", "endpicture:from=20", "createsurfaces:at=1", "createcontext:at=1",
                  "getimage:every=5,deriveimage:from=1", "sync:every=5"):
        tap.result(f"ffmpeg survives {fault}", guarded(survival_problem, clients, clip, {"DXVASOFT_FAULT": fault}))


def made_problem(clients: Clients, folder: Path, recipe: streams.Recipe) -> str | None:
    return clip_problem(clients, recipe.make(folder), pixel_format=recipe.surface,
                        decoder=DECODERS.get(recipe.codec))


def test_made(tap: Tap, clients: Clients, folder: Path) -> None:
    for recipe in streams.RECIPES:
        if recipe.surface is None:
            continue  # hwdownload takes one format to the end
        name = f"ffmpeg: {recipe.codec}, {recipe.name}"
        try:
            tap.result(name, guarded(made_problem, clients, folder, recipe))
        except (subprocess.CalledProcessError, OSError) as error:
            tap.result(name, None, f"cannot be made: {str(error).splitlines()[0][:100]}")


def survival_problem(clients: Clients, media: Path, knobs: dict[str, str] | None = None) -> str | None:
    answer = clients.decode(media, knobs)
    return f"{answer.stderr}\nffmpeg died of signal {-answer.returncode}" if answer.returncode < 0 else None


def media_problem(clients: Clients, media: Path, row: dict[str, str]) -> str | None:
    file = row["file"]
    expected = (media / "frames" / f"{file}.md5").read_text(encoding="ascii").split()
    if file in CONVERTED_LISTS:
        return clip_problem(clients, media / file, decoder=DECODERS.get(row["codec"]))
    if row["native_pix_fmt"] == "gray":
        # The list is of NV12 with colours nobody chose.
        return clip_problem(clients, media / file, pixel_format="gray")
    got = clients.decode(media / file, pixel_format=row["hash_pix_fmt"].replace("yuvj", "yuv"),
                         decoder=DECODERS.get(row["codec"]))
    if file in CUT_OFF:
        return compare(got, expected, last=len(expected) - 1)
    return compare(got, expected)


def test_media(tap: Tap, clients: Clients, pool: ThreadPoolExecutor, media: Path) -> None:
    manifest = media / "manifest.tsv"
    if not manifest.is_file():
        tap.result("media folder", None, f"no {manifest}; DXVA_MEDIA names another folder")
        return
    with open(manifest, encoding="utf-8", newline="") as table:
        rows = [row for row in csv.DictReader(table, delimiter="\t", quoting=csv.QUOTE_NONE)
                if row["codec"] in CODECS]
    waiting = []
    for row in rows:
        if row["file"] in EXCEPTIONS:
            waiting.append((row["file"], None, EXCEPTIONS[row["file"]]))
        elif row["file"] in CONVERTED_LISTS and not md5s(clients.reference(media / row["file"]).stdout):
            waiting.append((row["file"], None, "this ffmpeg has no filters for the number of its colours"))
        elif row["expect"] == "decode" and row["trust"] != "disputed" and row["hash_pix_fmt"] in CODECS[row["codec"]]:
            waiting.append((row["file"], pool.submit(guarded, media_problem, clients, media, row), None))
        elif row["expect"] != "decode":
            waiting.append((f"{row['file']} ({row['expect']}): no crash, no hang",
                            pool.submit(guarded, survival_problem, clients, media / row["file"]), None))
    for name, problem, skip in waiting:
        tap.result(f"ffmpeg: {name}", problem.result() if problem else None, skip)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--drivers", required=True, type=Path, help="folder of dxvasoft_drv_video.so")
    arguments = parser.parse_args()
    for program in ("Xvfb", "vainfo", "ffmpeg", "x264"):
        if not shutil.which(program):
            print(f"# SKIP no program {program}")
            return 77
    media = Path(os.environ.get("DXVA_MEDIA") or ROOT.parent / "shared" / "media")

    tap = Tap()
    with Xvfb() as display, tempfile.TemporaryDirectory() as folder, \
            ThreadPoolExecutor(os.cpu_count()) as pool:
        clients = Clients(display, arguments.drivers.resolve())
        tap.result("vainfo lists the profiles", guarded(vainfo_problem, clients))
        test_clips(tap, clients, pool, Path(folder))
        test_made(tap, clients, Path(folder))
        test_media(tap, clients, pool, media)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
