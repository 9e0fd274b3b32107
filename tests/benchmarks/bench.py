#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The benchmarks behind ./dev bench. Each is a module of this folder with a function run()."""

import argparse
import importlib
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

NAMES = ["decode", "kept-buffers"]


def main() -> int:
    parser = argparse.ArgumentParser(prog="./dev bench", description=__doc__.splitlines()[0])
    parser.add_argument("--build", required=True, type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--json", action="store_true", help="print the results as one JSON object")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"any of: {' '.join(NAMES)}")
    arguments = parser.parse_args()
    unknown = [name for name in arguments.names if name not in NAMES]
    if unknown:
        parser.error(f"no benchmark named {', '.join(unknown)}; there are: {' '.join(NAMES)}")

    results = {}
    for name in arguments.names or NAMES:
        results[name] = importlib.import_module(name.replace("-", "_")).run(arguments.build / "dev")
        if not arguments.json:
            print(f"{name}: {results[name].pop('what')}")
            for key, value in results[name].items():
                print(f"  {key:44} {value}")
    if arguments.json:
        print(json.dumps(results, indent=2))
    return 0


if __name__ == "__main__":
    sys.exit(main())
