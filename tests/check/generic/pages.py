#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The users' pages as a book: the sitemap has each of them once, links between them lead somewhere, what meson hands to
hotdoc is there, and what packages have of them is whole. hotdoc itself is in no Debian; a stand-in looks at what it is told."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

from tap import Tap  # noqa: E402

ROOT = Path(__file__).resolve().parents[3]
DOCS = ROOT / "docs"
PAGES = DOCS / "plugins"

# hotdoc's command line as meson uses it: a version, `conf`, which keeps options in a file, and `run`, which is to make
# the pages that the file says.
STAND_IN = r'''#!/usr/bin/env python3
import json, pathlib, sys
arguments = sys.argv[1:]
if "--version" in arguments:
    print("0.17")
    sys.exit()
options, name = {}, None
for word in arguments[1:]:
    if word.startswith("--"):
        name, _, value = word[2:].partition("=")
        options.setdefault(name, []).extend([value] if value else [])
    else:
        options[name].append(word)
if arguments[0] == "conf":
    options["include-path"] = [str(pathlib.Path(folder).resolve()) for folder in options["include-path"]]
    pathlib.Path(options["conf-file"][0]).write_text(json.dumps(options))
elif arguments[0] == "run":
    told = json.loads(pathlib.Path(options["conf-file"][0]).read_text())
    pages = pathlib.Path(told["sitemap"][0]).read_text().split()
    folders = [pathlib.Path(folder) for folder in told["include-path"]]
    missing = [page for page in pages if not any((folder / page).is_file() for folder in folders)]
    sys.exit(f"no such page: {missing}" if missing or not pathlib.Path(told["index"][0]).is_file() else 0)
'''


def sitemap() -> list[str]:
    return (PAGES / "sitemap.txt").read_text(encoding="utf-8").splitlines()


def anchors(page: str) -> set[str]:
    """Those of headings, as GitHub and hotdoc make them."""
    headings = re.findall(r"^#+ (.+)$", re.sub(r"^```.*?^```", "", page, flags=re.MULTILINE | re.DOTALL), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def broken_links(page: Path) -> list[str]:
    out = []
    for target in re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8")):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        file = (page.parent / path).resolve() if path else page
        if not file.exists() or (anchor and anchor not in anchors(file.read_text(encoding="utf-8"))):
            out.append(target)
    return out


def check_hotdoc(tap: Tap, meson: str, ninja: str) -> None:
    """docs/meson.build by itself, with a hotdoc that looks."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "bin").mkdir()
        (folder / "bin" / "hotdoc").write_text(STAND_IN)
        (folder / "bin" / "hotdoc").chmod(0o755)
        shutil.copytree(DOCS, folder / "tree" / "docs")
        shutil.copytree(ROOT / "tools" / "docs", folder / "tree" / "tools" / "docs")
        (folder / "tree" / "meson.build").write_text("project('gst-dxva', version: '1')\nsubdir('docs')\n")
        (folder / "tree" / "meson_options.txt").write_text("option('doc', type: 'feature', value: 'enabled')\n")
        environment = dict(os.environ, PATH=f"{folder / 'bin'}:{os.environ['PATH']}")
        log = ""
        for command in ([meson, "setup", str(folder / "out"), str(folder / "tree")],
                        [ninja, "-C", str(folder / "out"), "docs/gst-dxva-doc"]):
            ran = subprocess.run(command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                 stderr=subprocess.STDOUT, text=True, errors="replace")
            log += ran.stdout
            if ran.returncode != 0:
                break
        tap.case(ran.returncode == 0, "meson and hotdoc agree on where the pages are", log)


def check_html(tap: Tap, cmark: str) -> None:
    """As tools/docs/html_pages.py makes it."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, str(ROOT / "tools" / "docs" / "html_pages.py"), cmark, folder,
                        *map(str, sorted(PAGES.glob("*.md")))], check=True)
        made = {file.name: file.read_text(encoding="utf-8") for file in Path(folder).iterdir()}
    known = {name: set(re.findall(r'\bid="([^"]+)"', text)) for name, text in made.items()}
    for page in sorted(PAGES.glob("*.md")):
        name = page.with_suffix(".html").name
        text = made.get(name, "")
        wrong = []
        for target in re.findall(r'href="([^"]*)"', text):
            file, _, heading = target.partition("#")
            if not re.match("[a-z]+:", target) and ((file or name) not in made or heading and heading not in known[file or name]):
                wrong.append(target)
        tables = len(re.findall(r"^ *\|[-|]+\|$", page.read_text(encoding="utf-8"), re.MULTILINE))
        tap.case(text.endswith("</html>\n") and text.count("<table>") == tables and "|---" not in text and not wrong,
                 f"{name}: whole, with its tables, and its links lead to a page and a heading", f"{tables} tables; {wrong}")


def main() -> None:
    tap = Tap()
    lines = sitemap()
    pages = [line.strip() for line in lines]
    there = {page.name for page in PAGES.glob("*.md")}
    tap.case(lines[0] == "index.md" and all(re.fullmatch(r"\t[a-z-]+\.md", line) for line in lines[1:]) and
             sorted(pages) == sorted(there), "the sitemap has every page once, below the index",
             f"{set(pages) ^ there or lines}")
    for page in sorted([*DOCS.rglob("*.md"), *ROOT.glob("*.md"), ROOT / "lib" / "softva" / "README.md"]):
        wrong = broken_links(page)
        tap.case(not wrong, f"{page.relative_to(ROOT)}: links lead to a page that is there, and to a heading of it",
                 "\n".join(wrong))
    meson, ninja = shutil.which("meson"), shutil.which("ninja")
    if meson and ninja:
        check_hotdoc(tap, meson, ninja)
    else:
        tap.skip("meson and hotdoc agree on where the pages are", "no meson, or no ninja")
    installed = set(re.findall(r"'plugins/([a-z-]+\.md)'", (DOCS / "meson.build").read_text().split("pages_dir")[0]))
    tap.case(installed == there, "meson installs every page", f"{installed ^ there}")
    if cmark := shutil.which("cmark-gfm"):
        check_html(tap, cmark)
    else:
        tap.skip("the pages as HTML", "cmark-gfm is not installed")
    tap.end()


if __name__ == "__main__":
    main()
