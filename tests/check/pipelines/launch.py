#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Pipelines as users write them, and the lines that README.md shows, run as they stand there."""

import re
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

import rig  # noqa: E402
import x_server  # noqa: E402
from tap import Tap, skip_all  # noqa: E402

ROOT = Path(__file__).resolve().parents[3]
FRAMES = 300  # of the default clip
SOURCE = 'filesrc location="$DXVA_CLIP" ! qtdemux ! h264parse'


def checksums(middle: str) -> tuple[list[str], rig.Ran]:
    """The checksum of every frame that comes out of `middle`."""
    ran = rig.run(f"gst-launch-1.0 -q {SOURCE} ! {middle} ! video/x-raw,format=RGBA ! checksumsink sync=false")
    return re.findall(r"[0-9a-f]{40}", ran.out), ran


def readme_lines() -> list[str]:
    """gst-launch lines of README.md, with what a backslash continues."""
    text = re.sub(r"\\\n\s*", "", (ROOT / "README.md").read_text(encoding="utf-8"))
    return re.findall(r"^gst-launch-1\.0 .*$", text, re.MULTILINE)


def main() -> None:
    if not Path(rig.clip()).is_file():
        skip_all("no clip: ./dev test makes one")
    tap = Tap()
    expected, reference = checksums("avdec_h264 ! video/x-raw,format=I420 ! videoconvert ! "
                                    "video/x-raw,format=NV12 ! glupload ! glcolorconvert ! gldownload")
    got, ran = checksums("dxvadec ! dxvaglupload ! glcolorconvert ! gldownload")
    tap.case(ran.status == 0 and len(got) == FRAMES and got == expected,
             "dxvadec ! dxvaglupload ! glcolorconvert gives the colours that avdec_h264 ! glupload gives",
             f"{ran}\n{len(got)} frames, reference {len(expected)}: {reference.err}")
    got, ran = checksums("dxvadec ! videoconvert")
    tap.case(ran.status == 0 and len(got) == FRAMES, "dxvadec feeds elements that want system memory",
             str(ran))

    ran = rig.run('gst-launch-1.0 -v playbin uri="$DXVA_CLIP_URI" '
                  'video-sink="dxvaglupload ! glcolorconvert ! fakesink sync=false"')
    tap.case(ran.status == 0 and "dxvadec0.GstPad:src" in ran.out,
             "playbin takes dxvadec and plays into dxvaglupload", str(ran)[-3000:])

    for element in ("dxvadec", "dxvaglupload"):
        ran = rig.run(["gst-inspect-1.0", element])
        tap.case(ran.status == 0 and ran.err == "" and "stats" in ran.out,
                 f"gst-inspect-1.0 {element} reads without a complaint", str(ran))

    with tempfile.TemporaryDirectory() as folder:
        clip = Path(folder, "50% of a #clip.mp4")
        clip.symlink_to(rig.clip())
        ran = rig.run(f'source "{ROOT}/tools/dev/environment.sh"; '
                      'gst-launch-1.0 -q playbin uri="$(file_uri "$CLIP")" '
                      'video-sink="fakesink sync=false"', CLIP=str(clip))
        tap.case(ran.status == 0 and ran.err == "", "DXVA_CLIP_URI names a path with space, # and %", str(ran))

    if rig.name() == rig.GPU:
        tap.skip("CONTRIBUTING.md's lines for other programs", "they are for machines without a GPU")
    else:
        text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
        for line in re.findall(r"^xvfb-run .*$", text, re.MULTILINE):
            ran = rig.run(x_server.staying(line))
            tap.case(ran.status == 0, f"CONTRIBUTING.md: {line}", str(ran))

    lines = readme_lines()
    tap.case(len(lines) == 3, "README.md shows three gst-launch lines", "\n".join(lines))
    with tempfile.TemporaryDirectory() as folder:
        for line in lines:
            ran = rig.run(f"cd {folder} && {line}")
            tap.case(ran.status == 0 and "ERROR" not in ran.err, f"README.md: {line}", str(ran))
    tap.end()


if __name__ == "__main__":
    main()
