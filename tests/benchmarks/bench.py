#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The benchmarks behind ./dev bench. Each is a module of this folder with a function run(plan)."""

import argparse
import importlib
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import progress  # noqa: E402
from chart import svg  # noqa: E402
from plan import Plan  # noqa: E402

# What each is about, and how long --quick takes on two cores without a GPU.
BENCHMARKS = {
    "decode": ("decoding alone, beside gst-va and ffmpeg", "1.5 minutes"),
    "zero-copy": ("what an upload adds, with copies and without, 1080p and 2160p", "5 minutes"),
    "upload": ("from system memory into textures, beside glupload", "half a minute"),
    "pipeline": ("from the file to the texture, beside everybody's", "1 minute"),
    "streams": ("up to 16 at once", "1 minute"),
    "startup": ("until the first frame is in a texture", "half a minute"),
    "kept-buffers": ("an application that gives nothing back", "some seconds"),
}
NAMES = list(BENCHMARKS)
LENGTHS = """\
All of them take some ten minutes with --quick, and four to five times as long without it: most of an hour. The first
time clips are made, which takes one or two more. What is being done, and since when, is said on standard error."""


def about() -> str:
    rows = [f"  {name:14}{what} ({quick})" for name, (what, quick) in BENCHMARKS.items()]
    head = "benchmarks, and how long each takes with --quick on two cores without a GPU:"
    return "\n".join([head, *rows, "", LENGTHS])


def main() -> int:
    parser = argparse.ArgumentParser(prog="./dev bench", description="Figures of our elements, beside other people's.",
                                     epilog=about(), formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True, type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--json", action="store_true", help="print the results as one JSON object")
    length = parser.add_mutually_exclusive_group()
    length.add_argument("--quick", action="store_true",
                        help="three rounds, not seven, fewer frames and streams, system calls are not counted")
    length.add_argument("--tiny", action="store_true", help="only to see that everything runs: the figures say nothing")
    parser.add_argument("names", nargs="*", metavar="NAME", help="any of those below; none: all of them")
    arguments = parser.parse_args()
    unknown = [name for name in arguments.names if name not in NAMES]
    if unknown:
        parser.error(f"no benchmark named {', '.join(unknown)}; there are: {' '.join(NAMES)}")

    make = Plan.tiny if arguments.tiny else Plan.quick if arguments.quick else Plan
    plan = make(arguments.build.resolve())
    results = {}
    names = arguments.names or NAMES
    for number, name in enumerate(names):
        progress.tell(f"{name}, {number + 1} of {len(names)}" + (f": {BENCHMARKS[name][1]}" if arguments.quick else ""))
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
