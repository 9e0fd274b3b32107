#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""dxvaglsink in a window. The screen is Xvfb's; what is on it is
compared with the same clip decoded and converted on the CPU."""

import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

import rig  # noqa: E402
from tap import Tap, skip_all  # noqa: E402

WIDTH, HEIGHT = 320, 240
# What GstGL would do by itself: no variable of ./dev's headless rig.
WINDOWED = "unset GST_GL_WINDOW GST_GL_PLATFORM GST_GL_API;"
# The log says of each context what it is.
LOGGED = "export GST_DEBUG=glcontext:4 GST_DEBUG_NO_COLOR=1;"
UNTIL = 60  # seconds that a window may take to show its picture


def still_clip(folder: Path) -> Path:
    """Twenty seconds of one picture: whenever somebody looks, the same is on the screen."""
    clip = folder / "still.mp4"
    subprocess.run(["ffmpeg", "-nostdin", "-v", "error", "-f", "lavfi", "-i",
                    f"smptehdbars=size={WIDTH}x{HEIGHT}:rate=10:duration=20", "-c:v", "libx264", "-pix_fmt",
                    "yuv420p", "-colorspace", "smpte170m", "-color_primaries", "smpte170m", "-color_trc",
                    "smpte170m", str(clip)], check=True, stdin=subprocess.DEVNULL)
    return clip


def reference(clip: Path, out: Path) -> bytes:
    """The first picture as RGB, by libavcodec and videoconvert."""
    ran = rig.run(f'gst-launch-1.0 -q filesrc location="{clip}" ! qtdemux ! h264parse ! avdec_h264 ! '
                  "identity eos-after=2 ! videoconvert chroma-mode=none ! video/x-raw,format=RGB ! "
                  f'filesink location="{out}"')
    data = out.read_bytes() if out.is_file() else b""
    if len(data) < WIDTH * HEIGHT * 3:
        raise RuntimeError(f"no reference picture: {ran}")
    return data[:WIDTH * HEIGHT * 3]


def difference(shot: bytes, wanted: bytes) -> int:
    """Pixels that differ by more than two conversions do: GStreamer's shaders and its CPU code are up to 6
    apart in flat areas, and interpolate chroma otherwise at the borders of the bars."""
    off = 0
    for at in range(0, len(wanted), 3):
        if any(abs(shot[at + i] - wanted[at + i]) > 8 for i in range(3)):
            off += 1
    return off


class Screen:
    """Runs `player` on an X server of its own; shots are taken on the same server."""

    def __init__(self, player: str, folder: Path) -> None:
        self.file = folder / "shot.rgb"
        self.log = folder / "player.log"
        shot = ("gst-launch-1.0 -q ximagesrc num-buffers=1 use-damage=false show-pointer=false endx="
                f"{WIDTH - 1} endy={HEIGHT - 1} ! videoconvert ! video/x-raw,format=RGB ! "
                f"filesink location={self.file}.part && mv {self.file}.part {self.file}")
        script = (f"{WINDOWED} {LOGGED} ({player}) >{self.log} 2>&1 & player=$!; "
                  f"while kill -0 $player 2>/dev/null; do {shot}; sleep 0.5; done")
        self.process = subprocess.Popen(["xvfb-run", "-a", "-s", "-screen 0 640x480x24", "bash", "-c", script],
                                        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL, start_new_session=True)

    def shows(self, wanted: bytes) -> tuple[bool, str]:
        least = WIDTH * HEIGHT
        end = time.monotonic() + UNTIL
        while time.monotonic() < end and self.process.poll() is None:
            if self.file.is_file():
                shot = self.file.read_bytes()
                if len(shot) >= len(wanted):
                    least = min(least, difference(shot, wanted))
                    if least <= WIDTH * HEIGHT // 20:
                        return True, ""
            time.sleep(0.2)
        return False, f"best shot: {least} pixels differ\n{self.text()[-3000:]}"

    def text(self) -> str:
        return self.log.read_text(errors="replace") if self.log.is_file() else ""

    def close(self) -> None:
        subprocess.run(["pkill", "-s", str(self.process.pid)], check=False)
        try:
            self.process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def windows(tap: Tap, folder: Path) -> None:
    clip = still_clip(folder)
    wanted = reference(clip, folder / "wanted.rgb")
    source = f'filesrc location="{clip}" ! qtdemux ! h264parse ! dxvadec'
    for name, player in (
        ("dxvaglsink shows the reference picture in a window",
         f"timeout 40 gst-launch-1.0 {source} ! dxvaglsink name=s"),
        ("playbin plays into dxvaglsink's window",
         f"timeout 40 gst-launch-1.0 playbin uri={clip.as_uri()} video-sink='dxvaglsink name=s'"),
    ):
        screen = Screen(player, folder)
        try:
            right, why = screen.shows(wanted)
            tap.case(right, name, why)
        finally:
            screen.close()
        text = screen.text()
        tap.case("<glcontextegl" in text and "<glcontextglx" not in text,
                 f"{name}: with an EGL context, unasked", text[-3000:])
        for left in folder.glob("shot.rgb*"):
            left.unlink()


def platform_of_the_user(tap: Tap) -> None:
    ran = rig.run(f"{WINDOWED} {LOGGED} export GST_GL_PLATFORM=glx; xvfb-run -a gst-launch-1.0 playbin "
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
