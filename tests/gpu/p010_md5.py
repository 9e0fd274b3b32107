#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The md5 of each picture as P010, of planar pictures of 10 bits on standard input: p010_md5.py WIDTH HEIGHT."""

import array
import hashlib
import sys


def main() -> None:
    width, height = int(sys.argv[1]), int(sys.argv[2])
    luma = width * height
    chroma = (width + 1) // 2 * ((height + 1) // 2)
    while picture := sys.stdin.buffer.read(2 * (luma + 2 * chroma)):
        samples = array.array("H", picture)
        out = array.array("H", (value << 6 for value in samples[:luma]))
        for pair in zip(samples[luma:luma + chroma], samples[luma + chroma:]):
            out.extend(value << 6 for value in pair)
        print(hashlib.md5(out.tobytes()).hexdigest())


main()
