# SPDX-License-Identifier: LGPL-2.1-or-later
"""What a consumer costs that gives no buffer back: surfaces, descriptors, and whether the stream plays on.

A queue holds everything until the end of the stream. Elements that are not installed, or have no device
here, are named as missing. gst-va needs a DRM node; where there is none, this is what was measured of it
with GStreamer 1.26 on the same driver: 318 surfaces and 1211 descriptors for 300 frames, and at the usual
limit of 1024 descriptors an end of stream after 255 frames, without an error.
"""

import os
import subprocess
import tempfile
import time
from pathlib import Path

FRAMES = 500
HOLD = ("queue max-size-buffers=0 max-size-bytes=0 max-size-time=0 min-threshold-buffers=100000 "
        "! fakesink name=sink silent=false sync=false")
PIPELINES = {
    "dxvadec": "dxvadec",
    "dxvadec ! dxvaglupload": "dxvadec ! dxvaglupload",
    "avdec_h264": "avdec_h264",
    "vah264dec ! glupload": "vah264dec ! glupload",
}


def make_clip(folder: Path) -> Path:
    clip = folder / "bench-kept.mp4"
    if not clip.exists():
        part = clip.with_suffix(".part")
        subprocess.run(["ffmpeg", "-nostdin", "-v", "error", "-y", "-f", "lavfi", "-i",
                        "testsrc2=size=352x288:rate=25", "-frames:v", str(FRAMES), "-pix_fmt", "yuv420p",
                        "-c:v", "libx264", "-g", "50", "-bf", "3", "-f", "mp4", str(part)], check=True)
        part.rename(clip)
    return clip


def missing(pipeline: str) -> str | None:
    for element in pipeline.split(" ! "):
        # Not --exists: it asks for GStreamer's own version, too.
        if subprocess.run(["gst-inspect-1.0", element], stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL).returncode:
            return element
    return None


def hold(clip: Path, pipeline: str) -> str:
    """Plays it, and says what was open at the most."""
    with tempfile.TemporaryDirectory() as folder:
        log, out = Path(folder) / "driver.log", Path(folder) / "out"
        command = ["gst-launch-1.0", "-v", "filesrc", f"location={clip}", "!", "qtdemux", "!", "h264parse", "!",
                   *f"{pipeline} ! {HOLD}".split()]
        most = 0
        with out.open("wb") as stdout:
            process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=stdout, stderr=subprocess.STDOUT,
                                       env=dict(os.environ, DXVASOFT_LOG=str(log)))
            while process.poll() is None:
                try:
                    most = max(most, len(os.listdir(f"/proc/{process.pid}/fd")))
                except OSError:
                    break  # it has just ended
                time.sleep(0.01)
            process.wait()
        frames = out.read_bytes().count(b"last-message = chain")
        surfaces = log.read_text().count("\nsurface=") if log.exists() else 0
    end = "" if process.returncode == 0 else f", ended with {process.returncode}"
    return f"{frames} of {FRAMES} frames, {surfaces} surfaces, {most} descriptors{end}"


def run(folder: Path) -> dict:
    clip = make_clip(folder)
    results = {"what": f"every buffer kept, {FRAMES} frames of H.264"}
    for name, pipeline in PIPELINES.items():
        lacking = missing(pipeline)
        results[name] = f"no {lacking} here" if lacking else hold(clip, pipeline)
    return results
