# SPDX-License-Identifier: LGPL-2.1-or-later
"""What is on an X server's screen, compared with the same picture as libavcodec decodes it."""

import subprocess
import time
from pathlib import Path

WIDTH, HEIGHT = 320, 240
UNTIL = 60  # seconds that a window may take to show its picture


def still_clip(folder: Path) -> Path:
    """Twenty seconds of one picture: whenever somebody looks, the same is on the screen."""
    clip = folder / "still.mp4"
    subprocess.run(["ffmpeg", "-nostdin", "-v", "error", "-y", "-f", "lavfi", "-i",
                    f"smptehdbars=size={WIDTH}x{HEIGHT}:rate=10:duration=20", "-c:v", "libx264", "-pix_fmt",
                    "yuv420p", "-colorspace", "smpte170m", "-color_primaries", "smpte170m", "-color_trc",
                    "smpte170m", str(clip)], check=True, stdin=subprocess.DEVNULL)
    return clip


def first_picture(clip: Path) -> bytes:
    """As RGB: libavcodec's samples, and the equations of ITU-R BT.601 2.5 for studio range. Nobody else's conversion,
    which may share the mistake that is looked for."""
    decoded = subprocess.run(["ffmpeg", "-nostdin", "-v", "error", "-i", str(clip), "-frames:v", "1", "-pix_fmt",
                              "yuv420p", "-f", "rawvideo", "-"], check=True, stdin=subprocess.DEVNULL,
                             stdout=subprocess.PIPE).stdout
    chroma_at, chroma_size = WIDTH * HEIGHT, WIDTH * HEIGHT // 4
    if len(decoded) != chroma_at + 2 * chroma_size:
        raise RuntimeError(f"{clip} has no picture of {WIDTH}x{HEIGHT}")
    out = bytearray()
    for row in range(HEIGHT):
        for column in range(WIDTH):
            at = chroma_at + row // 2 * (WIDTH // 2) + column // 2
            luma = (decoded[row * WIDTH + column] - 16) * 255 / 219
            blue, red = ((decoded[at + plane * chroma_size] - 128) * 255 / 224 for plane in (0, 1))
            for value in (luma + 1.402 * red, luma - 0.344136 * blue - 0.714136 * red, luma + 1.772 * blue):
                out.append(min(255, max(0, round(value))))
    return bytes(out)


def difference(shot: bytes, wanted: bytes) -> int:
    """Pixels that differ by more than two conversions do: shaders are up to 6 apart from the equations in flat
    areas, and interpolate chroma otherwise at the borders of the bars."""
    return sum(any(abs(shot[at + i] - wanted[at + i]) > 8 for i in range(3)) for at in range(0, len(wanted), 3))


class Screen:
    """Runs `player`, a line for bash, on an X server of its own; shots are taken on the same server.

    `enter` is a command that runs others elsewhere, where `folder` is called `inside`."""

    def __init__(self, player: str, folder: Path, enter: list[str] | None = None, inside: str = "") -> None:
        self.shot = folder / "shot.rgb"
        self.log = folder / "player.log"
        self.stop = folder / "stop"
        for left in (self.shot, self.log, self.stop):
            left.unlink(missing_ok=True)
        there = inside or str(folder)
        shot = ("gst-launch-1.0 -q ximagesrc num-buffers=1 use-damage=false show-pointer=false endx="
                f"{WIDTH - 1} endy={HEIGHT - 1} ! videoconvert ! video/x-raw,format=RGB ! "
                f"filesink location={there}/shot.part && mv {there}/shot.part {there}/shot.rgb")
        script = (f"({player}) >{there}/player.log 2>&1 & player=$!; "
                  f"while kill -0 $player 2>/dev/null && [ ! -e {there}/stop ]; do {shot}; sleep 0.5; done; "
                  "kill $player 2>/dev/null")
        server = ["xvfb-run", "-a", "-s", "-screen 0 640x480x24 -noreset"]
        self.process = subprocess.Popen([*(enter or []), *server, "bash", "-c", script],
                                        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL, start_new_session=True)

    def shows(self, wanted: bytes) -> tuple[bool, str]:
        least = WIDTH * HEIGHT
        end = time.monotonic() + UNTIL
        while time.monotonic() < end and self.process.poll() is None:
            if self.shot.is_file():
                shot = self.shot.read_bytes()
                if len(shot) >= len(wanted):
                    least = min(least, difference(shot, wanted))
                    if least <= WIDTH * HEIGHT // 20:
                        return True, ""
            time.sleep(0.2)
        return False, f"best shot: {least} pixels differ\n{self.text()[-3000:]}"

    def text(self) -> str:
        return self.log.read_text(errors="replace") if self.log.is_file() else ""

    def close(self) -> None:
        self.stop.touch()
        try:
            self.process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            # Each of them is in the session that was started for it.
            subprocess.run(["pkill", "-KILL", "-s", str(self.process.pid)], check=False)
            self.process.wait()
