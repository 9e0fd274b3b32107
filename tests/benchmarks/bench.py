#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The benchmarks behind ./dev bench. Each is a module of this folder with a function run(plan)."""

import argparse
import importlib
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from chart import svg  # noqa: E402
from plan import Plan  # noqa: E402

NAMES = ["decode", "zero-copy", "upload", "pipeline", "streams", "startup", "kept-buffers"]


def main() -> int:
    parser = argparse.ArgumentParser(prog="./dev bench", description=__doc__.splitlines()[0])
    parser.add_argument("--build", required=True, type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--json", action="store_true", help="print the results as one JSON object")
    length = parser.add_mutually_exclusive_group()
    length.add_argument("--quick", action="store_true", help="fewer rounds and frames")
    length.add_argument("--tiny", action="store_true", help="only to see that everything runs: the figures say nothing")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"any of: {' '.join(NAMES)}")
    arguments = parser.parse_args()
    unknown = [name for name in arguments.names if name not in NAMES]
    if unknown:
        parser.error(f"no benchmark named {', '.join(unknown)}; there are: {' '.join(NAMES)}")

    make = Plan.tiny if arguments.tiny else Plan.quick if arguments.quick else Plan
    plan = make(arguments.build.resolve())
    results = {}
    for name in arguments.names or NAMES:
        report = importlib.import_module(name.replace("-", "_")).run(plan)
        results[name] = report.as_json()
        plan.folder.mkdir(parents=True, exist_ok=True)
        plot = plan.folder / f"{name}.svg"
        plot.write_text(svg(name, report), encoding="utf-8")
        if not arguments.json:
            print(f"{name}: {report.what}\n{report.text()}\n  plot: {plot}\n", flush=True)
    if arguments.json:
        print(json.dumps(results, indent=2))
    return 0


if __name__ == "__main__":
    sys.exit(main())
