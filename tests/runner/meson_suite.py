# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs the programs of one meson suite and counts their cases."""

import json
import os
import subprocess
from pathlib import Path

from counts import Counts, count_program


def programs_of(build: Path, suite: str) -> list[dict]:
    """The suite's programs as meson knows them."""
    answer = subprocess.run(["meson", "introspect", "--tests", str(build)],
                            stdout=subprocess.PIPE, text=True, check=True)
    return [test for test in json.loads(answer.stdout)
            if any(name.split(":")[-1] == suite for name in test["suite"])]


def run_suite(build: Path, suite: str, *, only: list[str] | None = None,
              environment: dict[str, str] | None = None, timeout_factor: int = 4) -> Counts:
    """`only` names programs of the suite; None runs all of them. Limits of time are there for what hangs: they are
    far above what a program takes, also where other work has the processors."""
    counts = Counts()
    if only == [] or not programs_of(build, suite):
        return counts
    log = build / "meson-logs" / f"dev-{suite}.json"
    log.unlink(missing_ok=True)
    command = ["meson", "test", "-C", str(build), "--no-rebuild", "--suite", suite,
               "--logbase", f"dev-{suite}", "--timeout-multiplier", str(timeout_factor)]
    # Of one case that has no limit of its own; check's is 4 seconds.
    limits = {"CK_DEFAULT_TIMEOUT": "60"}
    meson = subprocess.run(command + (only or []), env=dict(os.environ, **limits, **(environment or {})),
                           stdin=subprocess.DEVNULL)
    if not log.exists():
        counts.fail(suite, f"meson test ended with {meson.returncode} and wrote no log")
        return counts
    for line in log.read_text(encoding="utf-8", errors="replace").splitlines():
        test = json.loads(line)
        name = test["name"].split(" / ")[-1]
        output = test.get("stdout", "") + test.get("stderr", "")
        counts.add(count_program(name, test["result"], test["returncode"], output))
    return counts
