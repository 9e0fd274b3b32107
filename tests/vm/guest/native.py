# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs suites as ./dev test does, or a program of one ("media/gstva_rows"), and leaves their counts in
/build/native.json, for the host's runner."""

import dataclasses
import json
import sys
from pathlib import Path

sys.path.insert(0, "/project/tests/runner")

from counts import Counts  # noqa: E402
from meson_suite import run_suite  # noqa: E402

BUILD = Path("/build")

total = Counts()
for wanted in sys.argv[1:]:
    suite, _, program = wanted.partition("/")
    total.add(run_suite(BUILD, suite, only=[program] if program else None))
if not total.ran_anything():
    total.fail("all suites", "no case ran")
(BUILD / "native.json").write_text(json.dumps(dataclasses.asdict(total)))
