#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""docs/plugins/gst_plugins_cache.json is what the built plugins say of themselves.

plugins_cache.py SCANNER PLUGIN.so..."""

import difflib
import json
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

from tap import Tap  # noqa: E402

CACHE = Path(__file__).resolve().parents[3] / "docs" / "plugins" / "gst_plugins_cache.json"


def difference(committed: dict, built: dict) -> str:
    """Empty where both say the same, however it is laid out."""
    texts = [json.dumps(one, indent=2, sort_keys=True).splitlines() for one in (committed, built)]
    return "\n".join(difflib.unified_diff(*texts, CACHE.name, "the built plugins", lineterm=""))


def main() -> None:
    scanner, *plugins = sys.argv[1:]
    tap = Tap()
    ran = subprocess.run([scanner, *plugins], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    tap.case(ran.returncode == 0 and ran.stderr == "", "the built plugins are read", ran.stderr)
    differs = difference(json.loads(CACHE.read_text(encoding="utf-8")), json.loads(ran.stdout))
    tap.case(not differs, f"{CACHE.name} is what the built plugins say",
             f"{differs[:4000]}\nRenew it: ninja -C build plugins-cache")
    tap.case('+  "max": "64"' in difference({"max": "32"}, {"max": "64"}), "another value is noticed")
    names = {name for plugin in json.loads(ran.stdout).values()
             for kind in ("elements", "tracers") for name in plugin[kind]}
    tap.case(names >= {"dxvadec", "dxvaglupload", "dxvaglsink", "dxva"}, "it has every element and the tracer",
             str(names))
    with tempfile.NamedTemporaryFile(suffix=".so") as none:
        ran = subprocess.run([scanner, none.name], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        tap.case(ran.returncode == 1 and "dxva-plugins-cache: " in ran.stderr, "what is no plugin is an error",
                 ran.stderr)
    tap.end()


if __name__ == "__main__":
    main()
