#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What users may not have is opened at run time: our plugins and programs must load without it."""

import re
import subprocess
import sys

FORBIDDEN = re.compile(r"lib(cuda|nvcuvid|nvidia|vulkan)", re.IGNORECASE)
FORBIDDEN_SYMBOL = re.compile(r"\bUND\s+(cu[A-Z]\w*|cuvid\w+|vk[A-Z]\w*)")


def readelf(option: str, file: str) -> str:
    return subprocess.run(["readelf", "-W", option, file], check=True, stdout=subprocess.PIPE,
                          text=True).stdout


def needs(dynamic: str) -> list[str]:
    return re.findall(r"\(NEEDED\).*\[(.+)\]", dynamic)


def main() -> int:
    results = []
    # On made-up lines: what finds nothing must be able to find.
    results.append((bool(FORBIDDEN.search(needs(" 0x1 (NEEDED)  Shared library: [libcuda.so.1]")[0])) and
                    bool(FORBIDDEN_SYMBOL.search("  7: 0 0 FUNC GLOBAL DEFAULT UND cuInit")) and
                    not FORBIDDEN_SYMBOL.search("  7: 0 0 FUNC GLOBAL DEFAULT UND cubic"), "the patterns find"))
    for file in sys.argv[1:]:
        libraries = needs(readelf("-d", file))
        wrong = [name for name in libraries if FORBIDDEN.search(name)]
        wrong += FORBIDDEN_SYMBOL.findall(readelf("--dyn-syms", file))
        for name in wrong:
            print(f"# {file} needs {name}")
        results.append((bool(libraries) and not wrong, f"{file.rsplit('/', 1)[-1]} needs neither CUDA nor Vulkan"))
    for number, (good, title) in enumerate(results, 1):
        print(f"{'ok' if good else 'not ok'} {number} - {title}")
    print(f"1..{len(results)}")
    return 0 if all(good for good, _ in results) else 1


if __name__ == "__main__":
    sys.exit(main())
