#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""dxvaglsink in a window. The screen is Xvfb's; what is on it is compared with the same clip decoded by libavcodec."""

import shutil
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

import rig  # noqa: E402
import x_server  # noqa: E402
from screen import Screen, first_picture, still_clip  # noqa: E402
from tap import Tap, skip_all  # noqa: E402

# What GstGL would do by itself: no variable of ./dev's headless rig.
WINDOWED = "unset GST_GL_WINDOW GST_GL_PLATFORM GST_GL_API;"
# The log says of each context what it is.
LOGGED = "export GST_DEBUG=glcontext:4 GST_DEBUG_NO_COLOR=1;"


def windows(tap: Tap, folder: Path) -> None:
    clip = still_clip(folder)
    wanted = first_picture(clip)
    source = f'filesrc location="{clip}" ! qtdemux ! h264parse ! dxvadec'
    for name, player in (
        ("dxvaglsink shows the reference picture in a window",
         f"timeout 40 gst-launch-1.0 {source} ! dxvaglsink name=s"),
        ("playbin plays into dxvaglsink's window",
         f"timeout 40 gst-launch-1.0 playbin uri={clip.as_uri()} video-sink='dxvaglsink name=s'"),
    ):
        screen = Screen(f"{WINDOWED} {LOGGED} {player}", folder)
        try:
            right, why = screen.shows(wanted)
            tap.case(right, name, why)
        finally:
            screen.close()
        text = screen.text()
        tap.case("<glcontextegl" in text and "<glcontextglx" not in text,
                 f"{name}: with an EGL context, unasked", text[-3000:])


def platform_of_the_user(tap: Tap) -> None:
    ran = rig.run(f"{WINDOWED} {LOGGED} export GST_GL_PLATFORM=glx; {x_server.RUN} gst-launch-1.0 playbin "
                  "uri=$DXVA_CLIP_URI video-sink='dxvaglsink sync=false name=s'")
    tap.case(ran.status == 0 and "<glcontextglx" in ran.err and "<glcontextegl" not in ran.err,
             "GST_GL_PLATFORM=glx is the user's choice and stays one", str(ran)[-3000:])


def main() -> None:
    if not Path(rig.clip()).is_file():
        skip_all("no clip: ./dev test makes one")
    for program in ("xvfb-run", "ffmpeg", "pkill"):
        if not shutil.which(program):
            skip_all(f"{program} is not installed")
    tap = Tap()
    with tempfile.TemporaryDirectory() as folder:
        windows(tap, Path(folder))
    platform_of_the_user(tap)
    tap.end()


if __name__ == "__main__":
    main()
