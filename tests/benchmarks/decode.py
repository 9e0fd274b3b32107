# SPDX-License-Identifier: LGPL-2.1-or-later
"""What decoding costs: dxvadec against ffmpeg's VA-API decoder, on the same driver and clip.

Both only decode, once with every frame copied to system memory (which both do when nobody behind them
takes surfaces) and once with frames left in their surfaces. The driver is the bundled one in software,
so the figures compare what the clients add around it.
"""

import os
import subprocess
from contextlib import contextmanager
from pathlib import Path

from cpu_time import cpu_seconds, paired

PAIRS = 7  # about two minutes on two cores that have nothing else to do


def make_clip(folder: Path) -> Path:
    clip = folder / "bench-1080p.mp4"
    if not clip.exists():
        part = clip.with_suffix(".part")
        subprocess.run(["ffmpeg", "-nostdin", "-v", "error", "-y", "-f", "lavfi", "-i",
                        "testsrc2=size=1920x1080:rate=30:duration=10,noise=alls=6:allf=t",
                        "-pix_fmt", "yuv420p", "-c:v", "libx264", "-preset", "medium", "-b:v", "8M",
                        "-bf", "3", "-f", "mp4", str(part)], check=True)
        part.rename(clip)
    return clip


@contextmanager
def x_display():
    """libva in ffmpeg needs a DRM node or an X display; an empty one will do."""
    read_end, write_end = os.pipe()
    server = subprocess.Popen(["Xvfb", "-displayfd", str(write_end), "-screen", "0", "64x64x24"],
                              pass_fds=[write_end], stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL)
    os.close(write_end)
    try:
        with os.fdopen(read_end) as numbers:
            yield f":{numbers.readline().strip()}"
    finally:
        server.terminate()
        server.wait()


def run(folder: Path) -> dict:
    clip = make_clip(folder)
    frames = 300
    results = {"what": f"CPU ms per frame, 1080p H.264, {frames} frames, medians of {PAIRS} pairs"}
    with x_display() as display:
        theirs_environment = dict(os.environ, DISPLAY=display, LIBVA_DRIVER_NAME="dxvasoft")
        ours_environment = dict(os.environ, GST_DXVA_DEVICE="software")

        def ffmpeg(*output: str):
            command = ["ffmpeg", "-nostdin", "-v", "error", "-threads", "1", "-hwaccel", "vaapi",
                       "-hwaccel_device", display, *output, "-i", str(clip), "-map", "0:v:0",
                       "-f", "null", "-"]
            return lambda: cpu_seconds(command, theirs_environment)

        def dxvadec(sink: str):
            command = ["gst-launch-1.0", "-q", "filesrc", f"location={clip}", "!", "qtdemux", "!",
                       "h264parse", "!", "dxvadec", "!", *sink.split(" ")]
            return lambda: cpu_seconds(command, ours_environment)

        pairs = {
            "copied": (dxvadec("video/x-raw ! fakesink sync=false"), ffmpeg()),
            "surfaces": (dxvadec("dxvaglupload ! fakesink sync=false"),
                         ffmpeg("-hwaccel_output_format", "vaapi")),
        }
        for name, (ours, theirs) in pairs.items():
            our_seconds, their_seconds, ratio = paired(ours, theirs, PAIRS, name)
            results[f"{name}: dxvadec"] = round(our_seconds * 1000 / frames, 3)
            results[f"{name}: ffmpeg -hwaccel vaapi"] = round(their_seconds * 1000 / frames, 3)
            results[f"{name}: ratio"] = round(ratio, 3)
    return results
