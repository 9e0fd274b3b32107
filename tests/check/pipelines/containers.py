#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""playbin and playbin3 on every codec in every container that holds it, and on the collection's files: dxvadec is
in the pipeline unasked, and the sink draws every picture. Where dxvadec steps aside (no device and no software
behind it; VP8 and VP9 with an alpha channel) the next decoder plays.

containers.py AUTOPLUG"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

SUPPORT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(SUPPORT / "support"), str(SUPPORT / "media")]

import manifest  # noqa: E402
import rig  # noqa: E402
from tap import Tap, skip_all  # noqa: E402

AUTOPLUG = sys.argv[1]
PLAYBINS = ("playbin", "playbin3")
SINKS = ("dxvaglsink", "autovideosink", "glimagesink")
FRAMES = 24

H264 = ["-c:v", "libx264", "-preset", "fast", "-bf", "2", "-pix_fmt", "yuv420p"]
H265 = ["-c:v", "libx265", "-preset", "fast", "-x265-params", "log-level=none", "-pix_fmt", "yuv420p"]
MPEG2 = ["-c:v", "mpeg2video", "-qscale:v", "4", "-bf", "2", "-g", "12", "-pix_fmt", "yuv420p"]
VP8 = ["-c:v", "libvpx", "-deadline", "realtime", "-cpu-used", "8", "-pix_fmt", "yuv420p"]
VP9 = ["-c:v", "libvpx-vp9", "-deadline", "realtime", "-cpu-used", "8", "-pix_fmt", "yuv420p"]
AV1 = ["-c:v", "libaom-av1", "-usage", "realtime", "-cpu-used", "8", "-pix_fmt", "yuv420p"]
JPEG = ["-c:v", "mjpeg", "-qscale:v", "4", "-pix_fmt", "yuvj420p"]
# The first of each codec is also played into the other sinks, and without a device.
STREAMS = {
    "h264.mp4": H264, "h264.mkv": H264, "h264.ts": H264, "h264.mov": H264, "h264.flv": H264, "h264.avi": H264,
    "h265.mp4": [*H265, "-tag:v", "hvc1"], "h265.mkv": H265, "h265.ts": H265,
    "vp8.webm": VP8, "vp8.mkv": VP8,
    "vp9.webm": VP9, "vp9.mkv": VP9, "vp9.mp4": VP9,
    # Hidden pictures too: more packets' frames than pictures.
    "vp9-hidden.webm": ["-c:v", "libvpx-vp9", "-deadline", "good", "-cpu-used", "5", "-auto-alt-ref", "6",
                        "-lag-in-frames", "25", "-pix_fmt", "yuv420p"],
    "av1.mkv": AV1, "av1.mp4": AV1, "av1.webm": AV1,
    "mpeg2.ts": MPEG2, "mpeg2.mkv": MPEG2, "mpeg2.mp4": MPEG2, "mpeg2.mpg": [*MPEG2, "-f", "vob"],
    "jpeg.avi": JPEG, "jpeg.mov": JPEG, "jpeg.mkv": JPEG,
}
ALPHA = {"vp8": "libvpx", "vp9": "libvpx-vp9"}


@dataclass(frozen=True)
class Media:
    name: str
    path: Path
    frames: int

    @property
    def codec(self) -> str:
        return re.split(r"[-./]", self.name)[0]


def make(out: Path, picture: str, options: list[str]) -> None:
    subprocess.run(["ffmpeg", "-nostdin", "-v", "error", "-y", "-f", "lavfi", "-i",
                    f"testsrc2=s=176x144:r=25{picture}", "-frames:v", str(FRAMES), *options, str(out)],
                   check=True, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=rig.SECONDS)


def made(tap: Tap, folder: Path) -> list[Media]:
    out = []
    for name, options in STREAMS.items():
        try:
            make(folder / name, "", options)
            out.append(Media(name, folder / name, FRAMES))
        except (subprocess.SubprocessError, OSError) as error:
            tap.skip(name, f"cannot be made: {str(error).splitlines()[0][:100]}")
    return out


def collected() -> list[Media]:
    """The smallest stream of each codec in each kind of file that the collection has, and short ones only."""
    if not (manifest.folder() / "manifest.tsv").is_file():
        return []
    best: dict[tuple[str, str], manifest.Stream] = {}
    for stream in manifest.read_streams():
        kind = (stream.codec, stream.path.suffix)
        fits = (stream.expect == "decode" and stream.trusted and stream.on_device and 3 <= len(stream.hashes) <= 100 and
                stream.file not in manifest.REFUSED_BY_PARSER and stream.path.is_file())
        if fits and (kind not in best or stream.path.stat().st_size < best[kind].path.stat().st_size):
            best[kind] = stream
    return [Media(stream.file, stream.path, len(stream.hashes)) for stream in best.values()]


def has_jpegparse() -> bool:
    """A parser that playbin takes; it has no rank before GStreamer 1.24, and dxvadec wants whole pictures."""
    ran = rig.run(["gst-inspect-1.0", "jpegparse"])
    return re.search(r"Rank\s+none", ran.out) is None


@dataclass(frozen=True)
class Played:
    playbin: str
    sink: str
    media: Media
    found: dict  # of autoplug

    def __str__(self) -> str:
        return json.dumps(self.found)

    def run(self) -> tuple[str, str, Media]:
        return self.playbin, self.sink, self.media

    def right(self) -> bool:
        return not self.found["error"] and self.found["drawn"] == self.media.frames

    def gave(self, decoder: str) -> bool:
        return self.found["gave"].get(decoder, 0) > 0

    def decoded_by_us(self) -> bool:
        return self.gave("dxvadec")

    def is_gstreamers_own(self) -> bool:
        """It waits for ever, and dxvadec gave nothing yet: parsebin of 1.22 with VP8, for which it has no parser;
        playbin3 of 1.26 with MPEG-2 and sound (2 of 40 runs with avdec_mpeg2video), and its wrappers for alpha. No
        decoder was tried. Or all was drawn, and playbin3 of 1.22 died while it was taken apart."""
        error, drawn = self.found["error"], self.found["drawn"]
        if error.startswith("no end"):
            return not drawn and not self.decoded_by_us()
        died_at_the_end = self.playbin == "playbin3" and error.startswith("died") and drawn == self.media.frames
        return bool(error) and (not self.found["tried"] or died_at_the_end)


def play(runs: list[tuple[str, str, Media]], *settings: str, **environment: str) -> list[Played]:
    """Played again, whoever decodes, is what GStreamer fails at now and then on a busy machine, also without us: see
    Played.is_gstreamers_own. What fails each time has failed."""
    results = play_once(runs, *settings, **environment)
    for _ in range(3):
        again = [at for at, one in enumerate(results) if one.is_gstreamers_own()]
        if not again:
            break
        for at, one in zip(again, play_once([runs[at] for at in again], *settings, **environment)):
            results[at] = one
    return results


def play_once(runs: list[tuple[str, str, Media]], *settings: str, **environment: str) -> list[Played]:
    """In one process, on one X server, in GstGL's own way; in a new one after a run that died."""
    clean = {name: value for name, value in os.environ.items()
             if name not in ("GST_GL_WINDOW", "GST_GL_PLATFORM", "GST_GL_API")}
    results: list[Played] = []
    while len(results) < len(runs):
        rest = runs[len(results):]
        lines = "".join(f"{playbin}\t{sink} sync=false\t{media.path.as_uri()}\n" for playbin, sink, media in rest)
        # Or the server starts anew after each run, which had its only window.
        server = ["xvfb-run", "-a", "-s", "-screen 0 1280x1024x24 -noreset"]
        done = subprocess.run([*server, AUTOPLUG, *settings], input=lines, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True, errors="replace", env=dict(clean, **environment))
        said = done.stdout.splitlines()
        found = [json.loads(line) for line in said if line.startswith("{")]
        ended = said.count("ended")
        if ended < len(rest):
            how = f"died: {' '.join(done.stderr.splitlines()[-3:])}"
            if len(found) > ended:  # everything was played, and then the pipeline was taken apart
                found[-1]["error"] = how
            else:
                found.append({"elements": [], "tried": [], "gave": {}, "drawn": 0, "warnings": [], "error": how})
        results += [Played(*run, answer) for run, answer in zip(rest, found)]
    return results


def first_of_each_codec(media: list[Media]) -> list[Media]:
    first: dict[str, Media] = {}
    for one in media:
        first.setdefault(one.codec, one)
    return list(first.values())


def without_us_fails(doubtful: list[Played]) -> set[tuple[str, str, Media]]:
    """What fails without dxvadec too. What died with it may die without it now and then only, so it is played more often."""
    failed: set[tuple[str, str, Media]] = set()
    asked = [one.run() for one in doubtful]
    for _ in range(6):
        if not asked:
            break
        failed |= {one.run() for one in play(asked, GST_PLUGIN_FEATURE_RANK="dxvadec:NONE") if not one.right()}
        asked = [one.run() for one in doubtful if one.found["error"].startswith("died") and one.run() not in failed]
    return failed


def plays(tap: Tap, media: list[Media]) -> None:
    runs = [(playbin, SINKS[0], one) for one in media for playbin in PLAYBINS]
    runs += [(playbin, sink, one) for one in first_of_each_codec(media) for sink in SINKS[1:] for playbin in PLAYBINS]
    results = play(runs)
    # What no decoder plays is not ours to play: a type that is not found, a parser that refuses, playbin3 of
    # GStreamer 1.22 that dies when it takes its pipeline apart (MPEG-2 with sound in TS and PS).
    doubtful = [one for one in results if not one.right()]
    hopeless = without_us_fails(doubtful)
    for one in results:
        name = f"{one.playbin}: {one.media.name} by dxvadec into {one.sink}, every picture"
        if one.run() in hopeless:
            tap.skip(name, f"it does not play with the other decoders either: {one.found['error'][:100]}")
        else:
            tap.case(one.right() and one.decoded_by_us(), name, f"{one.media.frames} pictures; {one}")


def without_a_device(tap: Tap, media: list[Media]) -> None:
    """dxvadec comes first and fails on the way to READY: that is how it says that another one should."""
    nowhere = {"GST_DXVA_DEVICE": "/dev/dri/renderD255", "LIBVA_DRIVER_NAME": "none"}
    runs = [(playbin, SINKS[0], one) for one in first_of_each_codec(media) for playbin in PLAYBINS]
    for how, settings, more in (
        ("as playbin plugs it", ["dxvadec.software-fallback=false"], {}),
        ("by GST_DXVA_SOFTWARE_FALLBACK=0", [], {"GST_DXVA_SOFTWARE_FALLBACK": "0"}),
    ):
        for one in play(runs, *settings, **nowhere, **more):
            tap.case(one.right() and "dxvadec" in one.found["tried"] and not one.decoded_by_us(),
                     f"{one.playbin}: {one.media.name} by another decoder, software-fallback=false {how}", str(one))


def without_a_gpu(tap: Tap, media: list[Media]) -> None:
    """Nothing of ours is asked for: another decoder plays what it can, and dxvadec what nobody else can."""
    if rig.name() == rig.GPU:
        tap.skip("dxvadec is the last to be tried where there is no GPU", "there is one")
        return
    h264 = [one for one in media if one.codec == "h264"][:1]
    runs = [(playbin, SINKS[0], one) for one in h264 for playbin in PLAYBINS]
    nothing = {"GST_DXVA_DEVICE": ""}
    for one in play(runs, **nothing):
        tap.case(one.right() and not one.decoded_by_us() and "dxvadec" not in one.found["tried"],
                 f"{one.playbin}: without a GPU another decoder comes first", str(one))
    others = ",".join(f"{name}:NONE" for name in ("avdec_h264", "openh264dec"))
    for one in play(runs, GST_PLUGIN_FEATURE_RANK=others, **nothing):
        tap.case(one.right() and one.decoded_by_us(), f"{one.playbin}: without a GPU and another decoder, dxvadec", str(one))


def alpha(tap: Tap, folder: Path) -> None:
    for codec, encoder in ALPHA.items():
        path = folder / f"{codec}-alpha.webm"
        try:
            make(path, ",format=yuva420p,colorchannelmixer=aa=0.5",
                 ["-c:v", encoder, "-pix_fmt", "yuva420p", "-auto-alt-ref", "0", "-deadline", "realtime"])
        except (subprocess.SubprocessError, OSError) as error:
            tap.skip(f"{codec} with alpha", f"cannot be made: {str(error).splitlines()[0][:100]}")
            continue
        # A sink that is awaited lets gst-launch 1.22 miss errors that come before the first picture.
        parser = "vp9parse !" if codec == "vp9" else ""
        ran = rig.run(f'gst-launch-1.0 filesrc location="{path}" ! matroskademux ! {parser} dxvadec ! fakesink async=false')
        tap.case(ran.status == 1 and "has an alpha channel" in ran.err,
                 f"dxvadec refuses {codec} with alpha and says why", str(ran)[-2000:])
        wrapper = f"{codec}alphadecodebin"
        what = f"takes {wrapper} for {codec} with alpha"
        if rig.run(["gst-inspect-1.0", "--exists", wrapper]).status != 0:
            tap.skip(f"playbin {what}", f"{wrapper} is not installed")
            continue
        # Of GStreamer 1.26 it keeps the last picture to itself, so how many there are says a pipeline without us.
        media = Media(path.name, path, FRAMES)
        for playbin in PLAYBINS:
            ours, plain = play([(playbin, "dxvaglupload ! fakesink", media), (playbin, "fakesink", media)])
            tap.case(not ours.found["error"] and ours.found["drawn"] == plain.found["drawn"] >= FRAMES - 1 and
                     ours.gave(wrapper) and not ours.decoded_by_us(), f"{playbin} {what}", f"{ours}\n{plain}")


def main() -> None:
    for program in ("xvfb-run", "ffmpeg"):
        if not shutil.which(program):
            skip_all(f"{program} is not installed")
    tap = Tap()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        media = made(tap, folder)
        own_jpeg = has_jpegparse()
        ours = [one for one in media + collected() if one.codec != "jpeg" or own_jpeg or one.path.suffix in (".avi", ".mov")]
        if not own_jpeg:
            tap.skip("JPEG in files and in Matroska", "this GStreamer's playbin takes no jpegparse")
        plays(tap, ours)
        without_a_device(tap, media)
        without_a_gpu(tap, media)
        alpha(tap, folder)
    tap.end()


if __name__ == "__main__":
    main()
