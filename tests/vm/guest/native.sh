#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# native.sh SUITE[/PROGRAM]... : in the root, not in the machine. Runs suites of the ordinary tests on Debian 13's libraries.

source /project/tests/vm/guest/environment.sh
exec python3 /project/tests/vm/guest/native.py "$@"
