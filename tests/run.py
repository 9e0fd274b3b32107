#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The runner behind ./dev test: runs suites with meson and counts single cases, not programs.

Its last line is "N passed, N failed, N skipped". A program that crashes or takes too long is a failed
case even when it printed none, and a suite that ran no case at all has failed: silence is not success.
"""

import argparse
import sys
import time
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parent / folder) for folder in ("runner", "vm", "packages")]

import packages  # noqa: E402
import sanitize  # noqa: E402
import vm  # noqa: E402
from counts import Counts  # noqa: E402
from meson_suite import run_suite  # noqa: E402

SUITES = ["unit", "softva", "elements", "pipelines", "media", "sanitize", "vm", "packages"]
LAST_WORDS, LAST_COLUMNS = 12, 240  # of each failure, where all failures are told at the end
ON_DEMAND = ["debian-testing"]  # what only changes when Debian does


def show(name: str, counts: Counts, seconds: float) -> None:
    print(f"\n{name}: {counts} ({seconds:.0f} s)")
    for skip in counts.skips:
        print(f"  skipped: {skip}")
    for failure in counts.failures:
        print(f"  FAILED: {failure.name}")
        for line in failure.tail.splitlines():
            print(f"    | {line}")
    sys.stdout.flush()


def main() -> int:
    parser = argparse.ArgumentParser(prog="./dev test", description=__doc__.splitlines()[0])
    parser.add_argument("--build", required=True, type=Path, help=argparse.SUPPRESS)
    parser.add_argument("suites", nargs="*", metavar="SUITE", help=f"any of: {' '.join(SUITES)}; and, when named: {' '.join(ON_DEMAND)}")
    arguments = parser.parse_args()
    unknown = [suite for suite in arguments.suites if suite not in SUITES + ON_DEMAND]
    if unknown:
        parser.error(f"no suite named {', '.join(unknown)}; there are: {' '.join(SUITES + ON_DEMAND)}")

    total = Counts()
    # Named suites run in the order of the list, each once.
    wanted = arguments.suites or SUITES
    for suite in [s for s in SUITES + ON_DEMAND if s in wanted]:
        print(f"\n== {suite}", flush=True)
        started = time.monotonic()
        if suite == "sanitize":
            counts = sanitize.run(arguments.build)
        elif suite == "vm":
            counts = vm.run(arguments.build)
        elif suite == "packages":
            counts = packages.run(arguments.build)
        elif suite == "debian-testing":
            counts = packages.run_testing(arguments.build)
        else:
            counts = run_suite(arguments.build, suite)
        if not counts.ran_anything():
            counts.fail(suite, "no case ran in this suite")
        show(suite, counts, time.monotonic() - started)
        total.add(counts)

    # Once more, together: of a long log often only the end is kept.
    for failure in total.failures:
        print(f"FAILED: {failure.name}")
        for line in failure.tail.splitlines()[-LAST_WORDS:]:
            print(f"  | {line[:LAST_COLUMNS]}")
    print(f"\n{total}")
    return 1 if total.failed else 0


if __name__ == "__main__":
    sys.exit(main())
