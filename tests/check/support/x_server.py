# SPDX-License-Identifier: LGPL-2.1-or-later
"""An X server for a line of the shell."""

import re

# A server that loses its last client starts anew and says so to xvfb-run, which takes the signal for a failure of its
# own clean-up: exit status 5 (2 of 150 runs of a program that opens and closes a display). With -noreset it stays.
RUN = 'xvfb-run -a -s "-screen 0 1280x1024x24 -noreset"'


def staying(line: str) -> str:
    """A line of the documentation, on such a server."""
    return re.sub(r"\bxvfb-run(?: -a)?(?! -)\b", RUN, line)
