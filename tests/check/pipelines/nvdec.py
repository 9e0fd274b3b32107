#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""dxva-play with device=cuda, where NVIDIA's libraries are stand-ins (support/fakecuda): from the decoder's
memory into OpenGL without a copy, and down the ladder where that is refused. Then what there is without them."""

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

import rig  # noqa: E402
from tap import Tap, skip_all  # noqa: E402

PLAYER, DOCTOR, STAND_INS = (str(Path(argument).resolve()) for argument in sys.argv[1:4])
FRAMES = 40
VP9 = ["-c:v", "libvpx-vp9", "-deadline", "realtime", "-cpu-used", "8", "-g", "15"]
CLIPS = {"nv12.webm": [*VP9, "-pix_fmt", "yuv420p"],
         "p010.webm": [*VP9, "-pix_fmt", "yuv420p10le", "-profile:v", "2"],
         "p010-odd.webm": [*VP9, "-pix_fmt", "yuv420p10le", "-profile:v", "2", "-vf", "scale=353:289"],
         "jpeg.mkv": ["-c:v", "mjpeg", "-qscale:v", "4", "-pix_fmt", "yuvj420p"],
         "jpeg-odd.mkv": ["-c:v", "mjpeg", "-qscale:v", "4", "-pix_fmt", "yuvj420p", "-vf", "scale=353:289"]}


def make(folder: Path, name: str, options: list[str]) -> Path:
    out = folder / name
    subprocess.run(["ffmpeg", "-nostdin", "-v", "error", "-f", "lavfi", "-i",
                    f"testsrc2=size=354x290:rate=25,noise=alls=8:allf=t,trim=end_frame={FRAMES}", *options,
                    str(out)], check=True)
    return out


def run(command: list[str], faults: str = "", stand_ins: bool = True, **more: str) -> rig.Ran:
    # The test's own has the stand-ins, because it depends on them.
    path = [folder for folder in rig.os.environ.get("LD_LIBRARY_PATH", "").split(":") if folder and folder != STAND_INS]
    more["LD_LIBRARY_PATH"] = ":".join([STAND_INS] * stand_ins + path)
    return rig.run(command, DXVA_FAKE_CUDA=faults, GST_DXVA_TEST="software-import", **more)


def play(clip: Path, *options: str, **more) -> rig.Ran:
    return run([PLAYER, "--sheet", "none", "--json", "--check", *options, str(clip)], **more)


def all_on(tap: Tap, name: str, ran: rig.Ran, step: str, reason: str | None = None) -> None:
    try:
        said = json.loads(ran.out)
    except json.JSONDecodeError:
        said = {}
    steps = {key: count for key, count in said.get("steps", {}).items() if count}
    reasons = said.get("reasons", {})
    tap.case(ran.status == 0 and said.get("mismatches") == 0 and steps == {step: FRAMES} and
             (not reasons if reason is None else reasons.get(reason) == FRAMES), name, str(ran))


def main() -> None:
    if rig.name() not in (rig.MEMFD, rig.STOCK):
        skip_all("needs the rigs without a GPU: ./dev test sets them up")
    tap = Tap()
    with tempfile.TemporaryDirectory() as folder:
        try:
            clips = {name: make(Path(folder), name, options) for name, options in CLIPS.items()}
        except (subprocess.SubprocessError, OSError) as error:
            skip_all(f"ffmpeg makes no VP9 or JPEG here: {error}")
        for name, clip in clips.items():
            all_on(tap, f"{name}: NVDEC's pictures become textures without a copy, and are right",
                   play(clip, "--device", "cuda"), "memory-object")
        clip = clips["nv12.webm"]
        all_on(tap, "auto means NVDEC on OpenGL's GPU where no VA-API is", play(clip, "--device", "auto"),
               "memory-object")
        all_on(tap, "import=copy: one copy, and right", play(clip, "--device", "cuda", "--import", "copy"),
               "cpu-copy", "import-copy-forced")
        all_on(tap, "import=copy: 10 bits too", play(clips["p010.webm"], "--device", "cuda", "--import", "copy"),
               "cpu-copy", "import-copy-forced")
        all_on(tap, "zero-copy=off: one copy, written by the device into an upload slot",
               play(clip, "--device", "cuda", "--zero-copy", "off"), "cpu-copy", "zero-copy-off")
        all_on(tap, "memory that is not exported is copied",
               play(clip, "--device", "cuda", faults="export-fails"), "cpu-copy", "export-failed")
        all_on(tap, "a device without memory means decoding in software",
               play(clip, "--device", "cuda", faults="oom"), "software", "surfaces-not-made")

        ran = run([PLAYER, "--sheet", "none", "--device", "auto", str(clip)], stand_ins=False, GST_DEBUG="2")
        tap.case(ran.status == 0 and not re.search("cuda|nvdec|nvidia", ran.out + ran.err, re.IGNORECASE),
                 "without NVIDIA's libraries nothing is said of them", str(ran))

    ran = run([DOCTOR, "--json", "--device", "cuda"])
    try:
        found = json.loads(ran.out).get("cuda", [])
    except json.JSONDecodeError:
        found = []
    tap.case(len(found) == 1 and found[0].get("node") == "cuda:0" and found[0].get("vendor") == "Fake CUDA" and
             found[0].get("codecs") == ["h264", "h265", "vp8", "vp9", "av1", "jpeg"] and
             found[0].get("exports") is True,
             "dxva-doctor lists the device and what it decodes", str(ran))
    ran = run([DOCTOR, "--json"], stand_ins=False)
    tap.case('"decode"' in ran.out and '"cuda"' not in ran.out,
             "dxva-doctor says nothing of NVDEC where it is not", str(ran))
    tap.end()


main()
