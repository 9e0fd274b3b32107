# SPDX-License-Identifier: LGPL-2.1-or-later
"""TAP for test scripts: `./dev test` counts these lines as cases."""

import sys


class Tap:
    def __init__(self) -> None:
        self.number = 0
        self.failed = 0

    def note(self, text: str) -> None:
        for line in str(text).splitlines():
            print(f"# {line}", flush=True)

    def case(self, ok: bool, name: str, why: str = "") -> bool:
        """One case; `why` is printed when it failed."""
        self.number += 1
        print(f"{'ok' if ok else 'not ok'} {self.number} - {name}", flush=True)
        if not ok:
            self.failed += 1
            self.note(why)
        return ok

    def skip(self, name: str, reason: str) -> None:
        self.number += 1
        print(f"ok {self.number} - {name} # SKIP {reason}", flush=True)

    def end(self) -> None:
        """Prints the plan and ends the program."""
        print(f"1..{self.number}")
        sys.exit(1 if self.failed or not self.number else 0)


def skip_all(reason: str) -> None:
    print(f"# SKIP {reason}")
    print("1..0")
    sys.exit(77)
