# SPDX-License-Identifier: LGPL-2.1-or-later
"""Counting cases in what a test program printed: libcheck's summary, TAP, and "# SKIP" lines."""

import re
from dataclasses import dataclass, field
from itertools import takewhile

CHECK = re.compile(r"^\d+%: Checks: (\d+), Failures: (\d+), Errors: (\d+)", re.MULTILINE)
TAP = re.compile(r"^(not )?ok \d+(?: -)? ?(.*)$", re.MULTILINE)
SKIP = re.compile(r"^# SKIP:? ?(.*)$", re.MULTILINE)
TAIL_LINES = 40


@dataclass
class Failure:
    name: str
    tail: str


@dataclass
class Counts:
    passed: int = 0
    skips: list[str] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)

    @property
    def failed(self) -> int:
        return len(self.failures)

    def ran_anything(self) -> bool:
        return bool(self.passed or self.failures or self.skips)

    def fail(self, name: str, output: str) -> None:
        self.failures.append(Failure(name, "\n".join(output.strip().splitlines()[-TAIL_LINES:])))

    def add(self, other: "Counts") -> None:
        self.passed += other.passed
        self.skips += other.skips
        self.failures += other.failures

    def __str__(self) -> str:
        return f"{self.passed} passed, {self.failed} failed, {len(self.skips)} skipped"


def explanation(output: str, title: str) -> str:
    """The comments behind a failed TAP case, else all of the output."""
    lines = iter(output.splitlines())
    for line in lines:
        if line.startswith("not ok ") and line.endswith(title):
            said = list(takewhile(lambda comment: comment.startswith("#"), lines))
            return "\n".join(said) or output
    return output


def count_program(name: str, result: str, returncode: int, output: str) -> Counts:
    """Cases of one program. `result` is meson's verdict: OK, FAIL, SKIP, TIMEOUT, ERROR."""
    counts = Counts()
    skips = [f"{name}: {reason.strip()}" for reason in SKIP.findall(output)]
    if result == "SKIP" or returncode == 77:
        counts.skips = skips[:1] or [f"{name}: no reason given"]
        return counts

    for checks, failures, errors in CHECK.findall(output):
        bad = int(failures) + int(errors)
        counts.passed += int(checks) - bad
        for _ in range(bad):
            counts.fail(name, output)
    for bad, title in TAP.findall(output):
        what, _, directive = title.partition("# ")
        if directive.upper().startswith("SKIP"):
            counts.skips.append(f"{name}: {what.strip()}: {directive[4:].strip(': ')}")
        elif bad:
            counts.fail(f"{name}: {what.strip()}", explanation(output, what))
        else:
            counts.passed += 1
    # libcheck cannot say "skipped": a test that left early counts as passed there.
    counts.passed = max(0, counts.passed - len(skips))
    counts.skips += skips

    if result not in ("OK", "EXPECTEDFAIL") and not counts.failures:
        counts.fail(f"{name} ({result.lower()}, exit status {returncode})", output)
    elif not counts.ran_anything():
        counts.passed = 1  # a plain program whose exit status is the case
    return counts
