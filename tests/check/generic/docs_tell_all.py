#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What programs and people can set or read is on a page for users: every property with its default, every field
of `stats`, every message and event with its fields, every reason, every environment variable.

docs_tell_all.py SCANNER PLUGIN.so..."""

import json
import re
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

from tap import Tap  # noqa: E402

ROOT = Path(__file__).resolve().parents[3]
PAGES = {page.stem: page.read_text(encoding="utf-8") for page in sorted((ROOT / "docs" / "plugins").glob("*.md"))}
ALL_PAGES = "\n".join(PAGES.values())
DRIVER_PAGE = (ROOT / "lib" / "softva" / "README.md").read_text(encoding="utf-8")
PAGE_OF = {"dxva": "timeline"}  # whose page has another name


def sources(*folders: str) -> str:
    return "\n".join(file.read_text(encoding="utf-8") for folder in folders
                     for file in sorted((ROOT / folder).rglob("*.[ch]pp")))


def untold(names: Iterable[str], page: str) -> list[str]:
    """Names that do not stand on the page between backticks, alone or with a value (`NAME=0`)."""
    told = {word for span in re.findall(r"`([^`\n]+)`", page) for word in re.split(r"[\s,=;:()]+", span)}
    return sorted(set(names) - told)


def wrong_properties(properties: dict, page: str) -> list[str]:
    """Every property is a row of a table, | `name` | default | …, and no row is about a property that is none."""
    section = re.search(r"^## Properties\n(.*?)(?=^## |\Z)", page, re.MULTILINE | re.DOTALL)
    rows = dict(re.findall(r"^\| `([a-z-]+)` \|([^|]*)\|", section[1], re.MULTILINE)) if section else {}
    out = []
    for name, about in properties.items():
        if name not in rows:
            out.append(f"{name} has no row")
        elif about["writable"]:
            default = re.sub(r" \(-?\d+\)$", "", about["default"])
            if re.fullmatch(r"[\w./+-]+", default) and default != "NULL" and not re.search(rf"(?<![\w.-]){re.escape(default)}(?![\w.])", rows[name]):
                out.append(f"{name} is {default} and not {rows[name]}")
    known = set(properties)
    return out + [f"{name} is no property" for name in rows if name not in known]


def structures_of(code: str) -> dict[str, set[str]]:
    """Names of structures that leave the elements or come to them, and their fields."""
    out: dict[str, set[str]] = {}
    for name, fields in re.findall(r'gst_structure_new\(\s*"(dxva-[\w-]+)"(.*?)nullptr\)', code, re.DOTALL):
        out.setdefault(name, set()).update(re.findall(r'"([\w-]+)",\s*G(?:ST)?_TYPE', fields))
    for name in re.findall(r'gst_structure_has_name\([^,]+,\s*"(dxva-[\w-]+)"', code):
        out.setdefault(name, set())
    return out


def judge_can_refuse() -> list[str]:
    """A test that finds nothing must be able to find."""
    flag = {"writable": True, "default": "true"}
    page = "## Properties\n\n| name | default | |\n|---|---|---|\n| `sync` | true | |\n| `old` | 1 | |\n"
    out = []
    if wrong_properties({"sync": flag, "old": {"writable": True, "default": "1"}}, page):
        out.append("a right page is refused")
    for what, properties in (("a missing row", {"sync": flag, "old": flag | {"default": "1"}, "new": flag}),
                             ("another default", {"sync": flag | {"default": "false"}, "old": flag | {"default": "1"}}),
                             ("a row too many", {"sync": flag})):
        if not wrong_properties(properties, page):
            out.append(f"{what} is not noticed")
    if untold(["sync", "gone"], page) != ["gone"]:
        out.append("a missing name is not noticed")
    return out


def main() -> None:
    scanner, *plugins = sys.argv[1:]
    tap = Tap()
    wrong = judge_can_refuse()
    tap.case(not wrong, "what is missing on a page is noticed", "\n".join(wrong))

    cache = json.loads(subprocess.run([scanner, *plugins], check=True, stdout=subprocess.PIPE).stdout)
    for plugin in cache.values():
        for name, about in (plugin["elements"] | plugin["tracers"]).items():
            page = PAGES.get(PAGE_OF.get(name, name), "")
            tap.case("```\n" in page and re.search(r"^(GST\S* )*gst-(launch|play)-1\.0 ", page, re.MULTILINE) is not None,
                     f"{name} has a page with a line to run")
            wrong = wrong_properties(about["properties"], page)
            tap.case(bool(about["properties"]) and not wrong, f"{name}: every property with its default", "\n".join(wrong))
            missing = untold(about.get("signals", {}), page)
            tap.case(not missing, f"{name}: every signal", "\n".join(missing))

    fields: dict[str, list[str]] = {}
    for line in subprocess.run([scanner, "--stats", *plugins], check=True, stdout=subprocess.PIPE,
                               text=True).stdout.splitlines():
        element, field = line.split()
        fields.setdefault(element, []).append(field.split(".")[-1])
    for element in ("dxvadec", "dxvaglupload"):
        missing = untold(fields.get(element, []), PAGES[element])
        tap.case(len(fields.get(element, [])) >= 10 and not missing, f"{element}: every field of stats",
                 "\n".join(missing))

    structures = structures_of(sources("gst"))
    missing = untold([name for name in structures if not name.endswith("-stats")], ALL_PAGES)
    missing += untold({field for name in structures for field in structures[name]}, ALL_PAGES)
    words = re.findall(r'"(GstDxva\w+API)"', sources("gst"))
    missing += untold(words, ALL_PAGES)
    tap.case(len(structures) >= 4 and len(words) >= 3 and not missing, "every message, event and query of ours, with its fields",
             "\n".join(missing))
    contexts = re.findall(r'"(gst\.dxva\.[\w.]+)"', sources("gst"))
    tap.case(bool(contexts) and not untold(contexts, ALL_PAGES), "every context", str(contexts))
    reasons = re.findall(r'return "([a-z]+(?:-[a-z]+)*)";', (ROOT / "lib" / "base" / "path.cpp").read_text())
    missing = untold(set(reasons) - {"none", "unknown"}, ALL_PAGES)
    tap.case(len(reasons) > 40 and not missing, "every step and reason", "\n".join(missing))

    variables = set(re.findall(r'"((?:GST_DXVA|DXVASOFT)_[A-Z_]+)["=]', sources("gst", "lib", "tools")))
    missing = untold(variables, ALL_PAGES + DRIVER_PAGE)
    tap.case(len(variables) >= 15 and not missing, "every environment variable", "\n".join(missing))
    tap.end()


if __name__ == "__main__":
    main()
