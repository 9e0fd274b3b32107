# SPDX-License-Identifier: LGPL-2.1-or-later
"""CPU time of programs, and how to compare two of them on a machine that does other things too."""

import os
import statistics
import subprocess
import sys


def cpu_seconds(command: list[str], environment: dict[str, str] | None = None) -> float:
    """user + system seconds of one run, of that process alone. Ends the benchmark when it fails."""
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                               stderr=subprocess.PIPE, env=environment)
    errors = process.stderr.read().decode(errors="replace")
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"{' '.join(command)}\nended with {process.returncode}:\n{errors}")
    return usage.ru_utime + usage.ru_stime


def paired(ours, theirs, pairs: int, name: str) -> tuple[float, float, float]:
    """Runs both in turn, and gives the medians of each and of the pairs' ratios: a slow moment of the
    machine then meets both."""
    runs = []
    ours(), theirs()  # files and code come into memory
    for pair in range(pairs):
        print(f"{name}: pair {pair + 1} of {pairs}", file=sys.stderr, flush=True)
        first, second = (ours, theirs) if pair % 2 else (theirs, ours)
        times = {first: first(), second: second()}
        runs.append((times[ours], times[theirs]))
    return (statistics.median(a for a, _ in runs), statistics.median(b for _, b in runs),
            statistics.median(a / b for a, b in runs))
