#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The users' pages as HTML, for packages: what cmark-gfm makes of each, with the anchors that GitHub gives headings, and
links between pages that lead to the HTML. Design pages are not among them: of such links the words stay.

html_pages.py CMARK_GFM OUT PAGE.md..."""

import re
import subprocess
import sys
from html import unescape
from pathlib import Path

HEAD = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>{title} - gst-dxva</title>
<style>body{{font-family:sans-serif;max-width:60em;margin:2em auto;padding:0 1em;line-height:1.4}}
table{{border-collapse:collapse}}th,td{{border:1px solid #bbb;padding:.2em .5em;vertical-align:top;text-align:left}}
pre{{background:#f4f4f4;padding:.5em;overflow:auto}}</style></head><body>
"""
WAY_BACK = '<p><a href="index.html">gst-dxva</a></p>\n'


def anchor(heading: str) -> str:
    words = unescape(re.sub(r"<[^>]+>", "", heading)).lower()
    return re.sub(r"[^\w\- ]", "", words).replace(" ", "-")


def relink(link: re.Match, pages: set[str]) -> str:
    target, words = link.groups()
    page, hash_sign, heading = target.partition("#")
    if not page or re.match(r"[a-z]+:", target):
        return link[0]
    return f'<a href="{page.removesuffix(".md")}.html{hash_sign}{heading}">{words}</a>' if page in pages else words


def html_of(cmark: str, page: Path, pages: set[str]) -> str:
    body = subprocess.run([cmark, "--extension", "table", "--to", "html", str(page)], stdout=subprocess.PIPE, check=True,
                          encoding="utf-8").stdout
    body = re.sub(r"<(h\d)>(.*?)</\1>", lambda found: f'<{found[1]} id="{anchor(found[2])}">{found[2]}</{found[1]}>', body)
    body = re.sub(r'<a href="([^"]*)">(.*?)</a>', lambda link: relink(link, pages), body, flags=re.DOTALL)
    title = re.search(r"<h1[^>]*>(.*?)</h1>", body)[1]
    return HEAD.format(title=re.sub(r"<[^>]+>", "", title)) + (WAY_BACK if page.name != "index.md" else "") + body + "</body></html>\n"


def main() -> None:
    cmark, out, *names = sys.argv[1:]
    pages = [Path(name) for name in names]
    for page in pages:
        Path(out, f"{page.stem}.html").write_text(html_of(cmark, page, {one.name for one in pages}), encoding="utf-8")


if __name__ == "__main__":
    main()
