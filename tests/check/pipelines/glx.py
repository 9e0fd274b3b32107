#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""OpenGL by GLX, on Xvfb: every frame is copied there, and the user hears once what would help."""

import shutil
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

import rig  # noqa: E402
import x_server  # noqa: E402
from tap import Tap, skip_all  # noqa: E402

REMEDY = "GST_GL_PLATFORM=egl"


def play(platform: str, decoder: str = "dxvadec", uploader: str = "dxvaglupload") -> rig.Ran:
    """The clip to its end; what gst-launch prints has the warnings of the bus in it."""
    return rig.run(f"unset GST_GL_API; {x_server.RUN} gst-launch-1.0 "
                   f'filesrc location="$DXVA_CLIP" ! qtdemux ! h264parse ! {decoder} ! {uploader} ! '
                   "glcolorconvert ! fakesink", GST_GL_WINDOW="x11", GST_GL_PLATFORM=platform,
                   GST_DXVA_DEVICE="software")


def warnings(ran: rig.Ran) -> int:
    return (ran.out + ran.err).count(REMEDY)


def main() -> None:
    if not Path(rig.clip()).is_file():
        skip_all("no clip: ./dev test makes one")
    if not shutil.which("xvfb-run"):
        skip_all("no xvfb-run")
    if rig.run(f"{x_server.RUN} gst-launch-1.0 -q videotestsrc num-buffers=1 ! glupload ! fakesink",
               GST_GL_WINDOW="x11", GST_GL_PLATFORM="glx").status != 0:
        skip_all("no GLX on Xvfb here")
    tap = Tap()
    ran = play("glx")
    tap.case(ran.status == 0 and warnings(ran) == 1, "dma-bufs under GLX: one warning, with the remedy", str(ran))
    ran = play("egl")
    tap.case(ran.status == 0 and warnings(ran) == 0, "the same with the remedy: no warning", str(ran))
    ran = play("glx", uploader="dxvaglupload import=copy")
    tap.case(ran.status == 0 and warnings(ran) == 0, "whoever asked for copies is not warned of them", str(ran))
    ran = play("glx", decoder="dxvadec zero-copy=off")
    tap.case(ran.status == 0 and warnings(ran) == 0, "no dma-bufs under GLX: no warning", str(ran))
    tap.end()


if __name__ == "__main__":
    main()
