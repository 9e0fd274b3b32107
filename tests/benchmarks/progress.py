# SPDX-License-Identifier: LGPL-2.1-or-later
"""What a benchmark is at. It may take minutes, and standard output is for the results."""

import sys
import time

_BEGAN = time.monotonic()
_CLEAR = "\r\033[K"


def _put(text: str, end: str) -> None:
    seconds = int(time.monotonic() - _BEGAN)
    start = _CLEAR if sys.stderr.isatty() else ""
    print(f"{start}{seconds // 60:3}:{seconds % 60:02} {text}", end=end, file=sys.stderr, flush=True)


def tell(step: str) -> None:
    """A step of seconds to a minute, on a line of its own."""
    _put(step, "\n")


def glance(step: str) -> None:
    """A part of one, for somebody who looks on: the next one takes its place."""
    if sys.stderr.isatty():
        _put(step, "")
