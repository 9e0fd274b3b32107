# SPDX-License-Identifier: LGPL-2.1-or-later
"""What a consumer costs that gives no buffer back: surfaces, descriptors, and whether the stream plays on.

A queue holds everything until the end of the stream.
"""

import os
import subprocess
import tempfile
import time
from pathlib import Path

import clips
import peers
import progress
from plan import Plan
from report import Report, Verdict

SIZE = "352p"
HOLD = ("queue max-size-buffers=0 max-size-bytes=0 max-size-time=0 min-threshold-buffers=100000 "
        "! fakesink name=sink silent=false sync=false")


def run(plan: Plan) -> Report:
    clip = clips.h264(plan, SIZE)
    width, height = plan.size(SIZE)
    frames = plan.window(SIZE)[1] + clips.BEHIND_THE_WINDOW
    report = Report(f"every buffer kept, {frames} frames of H.264 {width}x{height}", "")
    lost = {}
    for name, environment in (("dxvadec", {}), ("dxvadec ! dxvaglupload", {}), ("avdec_h264", {}),
                              ("vah264dec ! glupload", peers.gst_va(plan))):
        progress.tell(f"kept-buffers: {name}")
        found, trouble = _hold(clip, name, environment)
        report.figures += [(f"{name}: {key}", value) for key, value in found.items()]
        lost[name] = frames - found["frames"]
        if trouble:
            report.notes.append(f"{name}: {trouble}")
    report.verdicts = [Verdict(f"{name}: frames lost", count, 0 if "dxva" in name else None, "frames")
                       for name, count in lost.items()]
    return report


def _hold(clip: Path, pipeline: str, environment: dict[str, str]) -> tuple[dict[str, int], str]:
    """Plays it; what was there at the most, and what went wrong."""
    with tempfile.TemporaryDirectory() as folder:
        log, out = Path(folder) / "driver.log", Path(folder) / "out"
        command = ["gst-launch-1.0", "-v", "filesrc", f"location={clip}", "!", "qtdemux", "!", "h264parse", "!",
                   *f"{pipeline} ! {HOLD}".split()]
        most = 0
        with out.open("wb") as stdout:
            process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=stdout, stderr=subprocess.STDOUT,
                                       env=os.environ | environment | {"DXVASOFT_LOG": str(log)})
            while process.poll() is None:
                try:
                    most = max(most, len(os.listdir(f"/proc/{process.pid}/fd")))
                except OSError:
                    break  # it has just ended
                time.sleep(0.01)
            process.wait()
        said = out.read_bytes()
        surfaces = log.read_text(encoding="utf-8").count("\nsurface=") if log.exists() else 0
    found = {"frames": said.count(b"last-message = chain"), "surfaces": surfaces, "descriptors": most}
    return found, f"ended with {process.returncode}" if process.returncode else ""
