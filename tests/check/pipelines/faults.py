#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The bundled driver with every layout and every fault it knows, against what frames must do then.

Each row of the table is one driver; it runs with both ways into GL (egl, copy) and with both layout
rules of dxvadec (any, tight-linear). Whatever the driver does: every picture is right, each frame takes
the step it can take and says why, and nothing ends in an error.
"""

import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

import faults_special  # noqa: E402
import rig  # noqa: E402
from faults_play import FRAMES, HEVC_10, Clip, Run  # noqa: E402
from faults_rows import ROWS, TEN_BIT_ROWS, Row  # noqa: E402
from tap import Tap, skip_all  # noqa: E402


def verdict(row: Row, run: Run, egl: bool, tight: bool) -> str:
    """What is wrong with a run; empty when nothing is."""
    if wrong := run.wrong_pictures():
        return wrong
    if sum(run.steps.values()) != FRAMES:
        return f"{FRAMES} frames took {run.steps}"
    # While the device's copies and the CPU's take turns, both ways into GL are in use.
    if len(run.changes_of("dxvaglupload")) > (2 if run.ways["gpu-copy"] else 1):
        return f"more than one message: {run.path_changes}"
    # What GL made of it: it imports what the decoder exports, or copies that too when it is told to.
    exported = run.ways["exported"]
    software = run.ways["software"]
    steps = {"egl": exported if egl else 0, "software": software}
    steps["gpu-copy"] = run.ways["gpu-copy"] if egl else 0
    steps["cpu-copy"] = FRAMES - steps["egl"] - steps["gpu-copy"] - software
    if run.steps != {step: count for step, count in steps.items() if count}:
        return f"the decoder's frames left as {dict(run.ways)} and took {run.steps}"
    if not egl and run.reasons.get("import-copy-forced") != FRAMES:
        return f"reasons {run.reasons}"
    if egl and run.reasons != dict(run.whys):
        return f"reasons {run.reasons}, the decoder's are {dict(run.whys)}"
    return (row.tight if tight else row.any)(run)


def ten_bit_clip(folder: Path) -> Clip | None:
    encoders = subprocess.run(["ffmpeg", "-hide_banner", "-encoders"], check=True, text=True,
                              stdout=subprocess.PIPE).stdout
    return Clip(folder, sys.argv[1], "ten.mp4", HEVC_10) if "libx265" in encoders else None


def main() -> None:
    if rig.name() != rig.MEMFD:
        skip_all(f"needs an OpenGL that imports memfds, this rig is '{rig.name()}'")
    tap = Tap()
    with tempfile.TemporaryDirectory(prefix="dxva-faults-") as folder:
        clip = Clip(Path(folder), sys.argv[1])
        ten_bits = ten_bit_clip(Path(folder))
        cells = [(ten, row, egl, tight) for ten, rows in ((False, ROWS), (True, TEN_BIT_ROWS))
                 for row in rows for egl in (True, False) for tight in (False, True)
                 if ten_bits or not ten]
        if not ten_bits:
            tap.skip("10 bits", "ffmpeg has no libx265")

        def play(cell) -> Run:
            ten, row, egl, tight = cell
            return (ten_bits if ten else clip).play("--import", "egl" if egl else "copy",
                             "--layout", "tight-linear" if tight else "any", environment=row.environment)

        # Two at a time: much of a run is starting up and waiting.
        with ThreadPoolExecutor(max_workers=min(2, os.cpu_count() or 1)) as pool:
            for (ten, row, egl, tight), run in zip(cells, pool.map(play, cells)):
                name = f"{'10 bits, ' if ten else ''}{row.name}, import {'egl' if egl else 'copy'}, layout {'tight-linear' if tight else 'any'}"
                wrong = verdict(row, run, egl, tight)
                tap.case(not wrong, name, f"{wrong}\n{run}")
        faults_special.cases(tap, clip)
    tap.end()


if __name__ == "__main__":
    main()
