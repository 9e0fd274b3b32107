#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""dxva-play on the default clip: every step that this rig can take, each frame right, and said so."""

import json
import re
import shutil
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

import outputs  # noqa: E402
import rig  # noqa: E402
from tap import Tap, skip_all  # noqa: E402

FRAMES = 300  # of the default clip
PLAYER = str(Path(sys.argv[1]).resolve())


def summary(ran: rig.Ran) -> dict:
    """The JSON object on stdout, which must be all of it; empty when it is not."""
    try:
        return json.loads(ran.out)
    except json.JSONDecodeError:
        return {}


def play(*options: str, environment=None, media: str = "", **more: str) -> rig.Ran:
    return rig.run([PLAYER, "--sheet", "none", *options, media or rig.clip()], environment, **more)


def all_on(tap: Tap, name: str, ran: rig.Ran, step: str, reason: str | None = None) -> None:
    """Every frame right, every one on `step`, and `reason` given for each."""
    said = summary(ran)
    steps = {key: count for key, count in said.get("steps", {}).items() if count}
    reasons = said.get("reasons", {})
    tap.case(ran.status == 0 and said.get("mismatches") == 0 and said.get("frames") == FRAMES and
             steps == {step: FRAMES} and
             (not reasons if reason is None else reasons.get(reason) == FRAMES), name, str(ran))


# ffmpeg, but every picture from the first of `changed` on is wrong by CHANGE, in which `threads` may be.
CHANGED_REFERENCE = """#!/usr/bin/env python3
import os, shutil, subprocess, sys
threads = int(sys.argv[sys.argv.index("-threads") + 1])
real = shutil.which("ffmpeg", path=os.environ["PATH"].split(":", 1)[1])
pictures = bytearray(subprocess.run([real, *sys.argv[1:]], stdout=subprocess.PIPE).stdout)
size = 160 * 120 * 3 // 2
for at in range(FIRST * size, len(pictures), size):
    pictures[at] ^= CHANGE
sys.stdout.buffer.write(pictures)
"""


def check_damage(tap: Tap) -> None:
    """What `--check` says of a frame that differs: wrong, or damaged."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        clip, broken = folder / "clip.h264", folder / "broken.h264"
        made = rig.run(["ffmpeg", "-nostdin", "-v", "error", "-f", "lavfi", "-i", "testsrc2=s=160x120:r=25", "-frames:v", "12",
                        "-c:v", "libx264", "-bf", "0", "-g", "8", "-keyint_min", "8", "-sc_threshold", "0", "-x264-params",
                        "slices=1:threads=1", str(clip)])
        if made.status != 0:
            tap.skip("a frame that differs is wrong or damaged", "this ffmpeg has no libx264")
            return

        def checked(media: Path, first: int, change: str) -> tuple[rig.Ran, rig.Ran]:
            reference = folder / "ffmpeg"
            reference.write_text(CHANGED_REFERENCE.replace("FIRST", str(first)).replace("CHANGE", change))
            reference.chmod(0o755)
            path = f"{folder}:{rig.os.environ['PATH']}"
            return play("--check", "--json", media=str(media), PATH=path), play("--check", media=str(media), PATH=path)

        ran, text = checked(clip, 11, "1")
        tap.case(ran.status == 1 and summary(ran)["mismatches"] == 1 and summary(ran)["damaged"] == 0 and
                 "1 mismatches: frame 11" in text.out, "where libavcodec agrees with itself a difference is a mismatch", str(ran))
        ran, text = checked(clip, 11, "threads")
        tap.case(ran.status == 0 and summary(ran)["mismatches"] == 0 and summary(ran)["damaged"] == 1 and
                 "11 frames equal libavcodec's software decode\ndamaged   1, not compared: frame 11, of which libavcodec" in
                 text.out, "where it does not the frame is damaged, and the others are compared", f"{ran}\n{text}")
        units = re.split(rb"\x00?\x00\x00\x01", clip.read_bytes())[1:]
        slices = [i for i, unit in enumerate(units) if unit[0] & 31 in (1, 5)]
        units[slices[4]] = units[slices[4]][:2]  # its header ends in the middle
        broken.write_bytes(b"".join(b"\x00\x00\x00\x01" + unit for unit in units))
        ran, _ = checked(broken, 0, "1")
        said = summary(ran)
        tap.case(ran.status == 1 and said["damaged"] == 3 and said["mismatches"] >= 8 and
                 said["first-damaged"].endswith(", says dxvadec"),
                 "what dxvadec marks as damaged is damaged: the pictures between a broken one and the next start", str(ran))


def check_outputs(tap: Tap) -> None:
    with tempfile.TemporaryDirectory() as folder:
        outputs.check_refusals(tap, [PLAYER, rig.clip()], "--sheet", b"\x89PNG\r\n\x1a\n", 2, folder)
        movie, link = Path(folder, "movie.mp4"), Path(folder, "link")
        shutil.copy(rig.clip(), movie)
        link.symlink_to(movie)
        before = movie.read_bytes()
        for option in "--sheet", "--timeline", "--framemd5":
            ran = rig.run([PLAYER, option, str(link), str(movie)])
            tap.case(ran.status == 2 and movie.read_bytes() == before and "is what is read" in ran.err,
                     f"{option} never replaces MEDIA", str(ran))
        ran = rig.run([PLAYER, "--framemd5", str(movie), rig.clip()])
        tap.case(ran.status == 2 and movie.read_bytes() == before, "--framemd5 replaces no other video", str(ran))
        device = outputs.full_disk(folder)
        if not device:
            tap.skip("a full disk", "device files cannot be made here")
            return
        ran = rig.run([PLAYER, "--json", "--sheet", str(device), rig.clip()])
        tap.case(ran.status == 1 and summary(ran).get("frames") == FRAMES and f"{device}: No space left" in ran.err,
                 "a contact sheet that does not fit fails after the summary", str(ran))


def main() -> None:
    if not Path(rig.clip()).is_file():
        skip_all("no clip: ./dev test makes one")
    tap = Tap()

    if rig.name() == rig.MEMFD:
        all_on(tap, "every frame is imported and equals the reference", play("--check", "--json"), "egl")
    elif rig.name() == rig.STOCK:
        all_on(tap, "every frame is copied where GL imports nothing", play("--check", "--json"),
               "cpu-copy", "no-import-extension")
    else:
        ran = play("--check", "--json")
        said = summary(ran)
        tap.case(ran.status == 0 and said.get("mismatches") == 0 and
                 sum(said.get("steps", {}).values()) == FRAMES,
                 "every frame equals the reference and has taken one step", str(ran))

    if rig.name() == rig.GPU:
        tap.skip("opaque memory is imported as memory objects", "the bundled driver would need the GPU's Vulkan")
    else:
        vulkan = {"DXVASOFT_MEMORY": "vulkan"}
        all_on(tap, "opaque memory is imported as memory objects, and every frame equals the reference",
               play("--check", "--json", "--import", "memory-object", **vulkan), "memory-object")
        all_on(tap, "opaque memory is imported so without being told", play("--check", "--json", **vulkan),
               "memory-object")
        all_on(tap, "import=egl copies opaque memory",
               play("--check", "--json", "--import", "egl", **vulkan), "cpu-copy", "not-a-dmabuf")
        all_on(tap, "a dma-buf is no opaque memory: import=memory-object copies it",
               play("--check", "--json", "--import", "memory-object"), "cpu-copy", "memory-object-unsupported")
    all_on(tap, "import=copy copies every frame, and each equals the reference",
           play("--check", "--json", "--import", "copy"), "cpu-copy", "import-copy-forced")
    if rig.name() != rig.GPU:
        all_on(tap, "every frame is written into an upload slot, and equals the reference",
               play("--check", "--json", "--zero-copy", "off", GST_DXVA_TEST="memfd,software-import,upload-ring"),
               "cpu-copy", "zero-copy-off")
        no_exports = {"DXVASOFT_FAULT": "export:from=1"}
        all_on(tap, "every frame is uploaded from its mapped surface, and equals the reference",
               play("--check", "--json", GST_DXVA_TEST="memfd,software-import,read-in-place", **no_exports),
               "cpu-copy", "export-failed")
        all_on(tap, "whether it is or not is measured, and every frame equals the reference",
               play("--check", "--json", GST_DXVA_TEST="memfd,software-import", **no_exports), "cpu-copy", "export-failed")
    if rig.name() == rig.MEMFD and "/dev/mesa/" in str(rig.os.environ.get("LD_LIBRARY_PATH")):
        all_on(tap, "the system's Mesa copies every frame by itself and says why",
               play("--check", "--json", environment=rig.on_the_systems_mesa()),
               "cpu-copy", "no-import-extension")
        all_on(tap, "the system's Mesa imports opaque memory",
               play("--check", "--json", "--import", "memory-object", environment=rig.on_the_systems_mesa(),
                    DXVASOFT_MEMORY="vulkan"), "memory-object")
    else:
        tap.skip("the system's Mesa copies every frame by itself and says why",
                 "this rig does not run on a private Mesa")
    all_on(tap, "a device that is not there means decoding in software",
           play("--check", "--json", "--device", "/dev/dri/renderD255"), "software", "no-device")
    for device, why, advice, variables in (
            ("/dev/dri/renderD255", "No such file or directory", "GPU's node", {}),
            ("cuda:7", "libcuda", "libnvcuvid.so.1", {}),
            ("software", 'DXVASOFT_LAYOUT: cannot read "nonsense"', "does not understand DXVASOFT_LAYOUT",
             {"DXVASOFT_LAYOUT": "nonsense"})):
        if rig.name() == rig.GPU and device.startswith("/"):
            advice = "Name one of"
        ran = play("--json", "--device", device, **variables)
        said = summary(ran)
        text = play("--device", device, **variables).out
        tap.case(ran.status == 0 and why in said.get("device-error", "") and advice in said.get("device-advice", "") and
                 f"device    none: {said['device-error']}\n" in text and said["device-advice"] in text,
                 f"{device} does not start: why, and what to do", f"{ran}\n{text}")
    tap.case("device-error" not in summary(play("--json")), "a device that starts has no error")

    ran = play(GST_DEBUG="2")
    tap.case(ran.status == 0 and ran.err == "", "with GST_DEBUG=2 a normal run prints nothing", str(ran))
    ran = play(GST_DEBUG="2", GST_DXVA_ZEROCOPY="no", GST_DEBUG_NO_COLOR="1")
    # Another test may just have left a registry of other variables: then a scanner has loaded the plugins as well.
    processes = re.findall(r"^\S+ +(\d+) .* GST_DXVA_ZEROCOPY=no changes nothing", ran.err, re.MULTILINE)
    tap.case(ran.status == 0 and processes and len(processes) == len(set(processes)),
             "a variable with a wrong value is a warning of the log, once for both plugins", str(ran))
    ran = play(GST_DEBUG="GST_TRACER:7", GST_TRACERS="leaks", GST_DEBUG_NO_COLOR="1")
    # The tracer also logs the form of its lines, with %s in place of a type.
    alive = re.findall(r"object-alive, type-name=\(string\)(?!%s).*", ran.err)
    tap.case(ran.status == 0 and "GST_TRACER" in ran.err and not alive,
             "GStreamer's leak tracer finds no object of a run alive", "\n".join(alive) or str(ran))

    with tempfile.TemporaryDirectory() as folder:
        lines = Path(folder, "frames.md5")
        ran = play("--framemd5", str(lines))
        tap.case(ran.status == 0 and len(lines.read_text().split()) == FRAMES,
                 "--framemd5 writes one line for each frame", str(ran))
        sheet = Path(folder, "sheet with a space.png")
        ran = rig.run([PLAYER, "--sheet", str(sheet), rig.clip()])
        tap.case(ran.status == 0 and sheet.read_bytes().startswith(b"\x89PNG"),
                 "the contact sheet is a PNG", str(ran))
        nonsense = Path(folder, "nonsense.mp4")
        nonsense.write_text("this is no video")
        for what, media in [("no video", str(nonsense)), ("a missing file", str(Path(folder, "none.mp4"))),
                            ("a folder", folder)]:
            ran = play(media=media)
            tap.case(ran.status == 1 and len(ran.err.splitlines()) == 1,
                     f"{what} ends with one line that says so", str(ran))
        # A stream that nobody takes and that ends without data: parsebin posts neither an error nor EOS.
        cut = Path(folder, "cut short.y4m")
        rig.run(["ffmpeg", "-nostdin", "-v", "error", "-f", "lavfi", "-i", "testsrc2=d=0.1", str(cut)])
        cut.write_bytes(cut.read_bytes()[:500])
        ran = play(media=str(cut))
        tap.case(ran.status == 1 and ran.err.endswith(": dxvadec does not decode video/x-raw\n"),
                 "a stream of which nobody says that it has ended ends all the same", str(ran))
        # A reference that is another video: the check must be able to fail.
        broken = Path(folder, "ffmpeg")
        broken.write_text('#!/bin/sh\nexec head -c 500000000 /dev/zero\n')
        broken.chmod(0o755)
        ran = play("--check", "--json", PATH=f"{folder}:{rig.os.environ['PATH']}")
        tap.case(ran.status == 1 and summary(ran).get("mismatches", 0) >= FRAMES,
                 "--check fails when the reference differs", str(ran))
    with tempfile.TemporaryDirectory() as folder:
        # Concealment of damage depends on threads, so the reference has as many as dxvadec.
        recorder = Path(folder, "ffmpeg")
        recorder.write_text(f'#!/bin/sh\necho "$@" >{folder}/arguments\n')
        recorder.chmod(0o755)
        for device, threads in ("", 1), ("/dev/dri/renderD255", 0):
            ran = play("--check", "--device", device, PATH=f"{folder}:{rig.os.environ['PATH']}")
            asked = Path(folder, "arguments").read_text()
            tap.case(f"-threads {threads} " in asked,
                     f"the reference has the threads of {'software' if device else 'device'} decoding", asked)
    check_damage(tap)
    with tempfile.TemporaryDirectory() as folder:
        odd = Path(folder, "-a #50% b.mp4")
        odd.symlink_to(rig.clip())
        for what, arguments in ("starts with -", ["--", odd.name]), ("is a URI", [odd.as_uri()]):
            ran = rig.run(["sh", "-c", 'cd "$0" && exec "$@"', folder, PLAYER, "--json", *arguments])
            tap.case(ran.status == 0 and summary(ran).get("frames") == FRAMES, f"MEDIA that {what} is played",
                     str(ran))
    with tempfile.TemporaryDirectory() as folder:
        for name in "one.jpg", "five.avi":
            media = Path(folder, name)
            rig.run(["ffmpeg", "-v", "error", "-f", "lavfi", "-i", "testsrc2=size=320x240", "-pix_fmt", "yuvj420p",
                     "-frames:v", "1" if name == "one.jpg" else "5", "-c:v", "mjpeg", str(media)])
            ran = play("--check", "--json", media=str(media))
            tap.case(ran.status == 0 and summary(ran).get("mismatches") == 0,
                     f"JPEG in {name} equals the reference", str(ran))
    with tempfile.TemporaryDirectory() as folder:
        for size in "333x241", "354x290":
            media = Path(folder, f"{size}.webm")
            rig.run(["ffmpeg", "-v", "error", "-f", "lavfi", "-i", "testsrc2=size=320x240,noise=alls=8,"
                     f"scale={size.replace('x', ':')}", "-pix_fmt", "yuv420p10le", "-frames:v", "6", "-c:v", "libvpx-vp9",
                     "-profile:v", "2", "-deadline", "realtime", "-cpu-used", "8", str(media)])
            for device in "software", "none":
                ran = play("--check", "--json", "--device", device, media=str(media))
                tap.case(ran.status == 0 and summary(ran).get("frames") == 6 and summary(ran).get("mismatches") == 0,
                         f"10 bits of {size} equal the reference, decoded by {device}", str(ran))
    with tempfile.TemporaryDirectory() as folder:
        for source, codec, says in (("sine", ["-c:a", "aac"], "no video stream found"),
                                    ("testsrc2", ["-c:v", "mpeg4"], "video/mpeg, mpegversion=4")):
            media = Path(folder, f"{source}.mp4")
            rig.run(["ffmpeg", "-v", "error", "-f", "lavfi", "-i", f"{source}=duration=1", *codec, str(media)])
            ran = play(media=str(media))
            tap.case(ran.status == 1 and says in ran.err, f"{codec[1]} alone: {says}", str(ran))
    ran = play("--window", environment={name: value for name, value in rig.os.environ.items()
                                        if name not in ("DISPLAY", "WAYLAND_DISPLAY", "GST_GL_WINDOW")})
    tap.case(ran.status == 1 and "no display" in ran.err, "--window without a display says so", str(ran))
    for options in ([], ["--framemd5", "-"], ["--json"]):
        ran = rig.run(f'"{PLAYER}" --sheet none {" ".join(options)} "$DXVA_CLIP" >/dev/full')
        tap.case(ran.status == 1 and "stdout: " in ran.err,
                 f"a full disk behind stdout is an error {' '.join(options)}".rstrip(), str(ran))
    ran = rig.run([PLAYER, "--json", "--sheet", "/nonexistent/sheet.png", rig.clip()])
    tap.case(ran.status == 1 and ran.out == "" and ran.err == "dxva-play: /nonexistent/sheet.png: No such file or directory\n",
             "a contact sheet that cannot be written fails before it plays", str(ran))
    check_outputs(tap)
    ran = rig.run([PLAYER, "--version"])
    tap.case(ran.status == 0 and re.fullmatch(r"dxva-play [\d.]+\nGStreamer 1\.\S.*\n", ran.out) is not None and ran.err == "",
             "--version needs no video", str(ran))
    for options in (["--import", "nonsense"], ["--bogus"], ["a", "b"], [""], ["file://%"]):
        ran = rig.run([PLAYER, *options, *([rig.clip()] if options[0].startswith("--") else [])])
        tap.case(ran.status == 2 and len(ran.err.splitlines()) == 1,
                 f"{' '.join(options)} is refused in one line", str(ran))
    tap.end()


if __name__ == "__main__":
    main()
