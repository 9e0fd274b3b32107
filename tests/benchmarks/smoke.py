#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Every benchmark on pictures of no size: that each runs here, and prints a figure for each of its ways and ratios. What
the figures are is nobody's business here."""

import json
import os
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "check" / "support")]

import bench  # noqa: E402
import peers  # noqa: E402
from tap import Tap, skip_all  # noqa: E402

SECONDS = 600  # a guard against hangs, no measure of speed


def missing(result: dict, with_peers: bool) -> list[str]:
    """Figures that should be there and are not: ours, and those of peers where they are installed."""
    ours = [name for name, value in result["figures"].items() if value is None and (with_peers or "dxva" in name)]
    ratios = [name for name, target in result["targets"].items()
              if target["value"] is None and with_peers and (peers.imports() or "zero-copy" not in name)]
    return ours + ratios


def main() -> None:
    build = Path(sys.argv[1])
    if not os.environ.get("DXVA_RIG"):
        skip_all("not in the environment of ./dev")
    with_peers = subprocess.run(["gst-inspect-1.0", "vah264dec"], env=os.environ | peers.gst_va(bench.Plan(build)),
                                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0
    tap = Tap()
    tap.note(f"gst-va is {'' if with_peers else 'not '}there")
    for name in bench.NAMES:
        done = subprocess.run([sys.executable, str(HERE / "bench.py"), "--build", str(build), "--tiny", "--json", name],
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace",
                              timeout=SECONDS)
        result = json.loads(done.stdout)[name] if done.returncode == 0 else {}
        lacking = missing(result, with_peers) if result else ["everything"]
        tap.case(bool(result) and bool(result["targets"]) and not lacking, f"{name} has all its figures",
                 f"exit status {done.returncode}, missing: {lacking}\n{done.stdout}\n{done.stderr}")
        plot = build / "bench" / f"{name}.svg"
        bars = ElementTree.parse(plot).getroot().findall(".//{*}rect") if plot.is_file() else []
        tap.case(len(bars) > 1, f"{name} is plotted", str(plot))
    tap.end()


if __name__ == "__main__":
    main()
