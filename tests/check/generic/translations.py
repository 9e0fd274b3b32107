#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Sentences for people can be translated: each is marked, its file is listed, xgettext finds it, and a translation
that is there is what people read.

translations.py [PROGRAM...]   programs whose --help is looked at"""

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
DOMAIN = "gst-dxva"
DEFINITION = "lib/base/translation.hpp"
C_LOCALE = Path("/usr/lib/locale/C.utf8")  # part of the C library's package
MARKED = re.compile(r"\bN?_\(\s*\"")
# Macros whose fourth argument reaches the person in front of the screen; the fifth is for developers.
MESSAGE = re.compile(r"\bGST_ELEMENT_(?:ERROR|WARNING|INFO)\(")
# As meson's preset "glib" has them, as far as we use them.
XGETTEXT = ["xgettext", "--from-code=UTF-8", "--language=C++", "--keyword=_", "--keyword=N_", "--add-comments"]


def sources() -> dict[str, str]:
    return {path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8")
            for folder in ("gst", "lib", "tools") for path in sorted((ROOT / folder).rglob("*.[ch]pp"))}


def arguments(text: str, start: int) -> list[str]:
    """Of the call whose parenthesis opens before `start`."""
    out, depth, at, begin = [], 1, start, start
    while depth:
        letter = text[at]
        if letter == '"':
            at = re.compile(r'"(?:[^"\\]|\\.)*"').match(text, at).end()
            continue
        depth += (letter in "([{") - (letter in ")]}")
        if depth == 0 or (depth == 1 and letter == ","):
            out.append(text[begin:at].strip())
            begin = at + 1
        at += 1
    return out


def unmarked_messages(text: str) -> list[str]:
    """Sentences in messages that nobody can translate. What consists of a %s was made elsewhere."""
    out = []
    for found in MESSAGE.finditer(text):
        sentence = arguments(text, found.end())[3]
        if re.match(r'\(\s*"', sentence) and not re.match(r'\(\s*"%s"', sentence):
            out.append(sentence)
    return out


def unmarked_options(text: str) -> list[str]:
    """Entries of GOption with words that are not marked; an empty one belongs to a hidden option."""
    out = []
    for block in re.findall(r"GOptionEntry \w+\[\] = \{(.*?)\n  ?\s*\};", text, re.DOTALL):
        for entry in re.findall(r"\{(.*?)\}", block, re.DOTALL):
            fields = arguments(entry + ")", 0)
            out += [field for field in fields[5:] if re.match(r'".+"', field, re.DOTALL)]
    return out


def check_the_checks(tap: Tap) -> None:
    """On made-up text: what finds nothing must be able to find."""
    bad = 'GST_ELEMENT_ERROR(&e, A, B, ("No, (%s)", x), ("%s", y));'
    good = 'GST_ELEMENT_ERROR(&e, A, B, (_("No, (%s)"), x), (nullptr)); GST_ELEMENT_WARNING(e, A, B, ("%s", t), (nullptr));'
    entry = 'const GOptionEntry entries[] = {\n {"json", 0, 0, A, &json, %s, nullptr},\n {}};\n  };'
    tap.case(unmarked_messages(bad) == ['("No, (%s)", x)'] and not unmarked_messages(good) and
             unmarked_options(entry % '"print"') == ['"print"'] and not unmarked_options(entry % 'N_("print")'),
             "sentences that are not marked are found")


def listed() -> list[str]:
    lines = (ROOT / "po" / "POTFILES.in").read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def check_sources(tap: Tap, texts: dict[str, str]) -> None:
    messages = [f"{file}: {text}" for file, source in texts.items() for text in unmarked_messages(source)]
    tap.case(not messages, "every message of an element is marked", "\n".join(messages))
    options = [f"{file}: {text}" for file, source in texts.items() for text in unmarked_options(source)]
    tap.case(not options, "every option's description is marked", "\n".join(options))
    marked = sorted(file for file, text in texts.items() if MARKED.search(text) and file != DEFINITION)
    tap.case(sorted(listed()) == marked, "po/POTFILES.in lists the files with sentences, and no others",
             f"marked: {marked}\nlisted: {listed()}")


def collect(out: Path) -> str:
    """The template of all sentences, as `meson compile gst-dxva-pot` makes it; its text."""
    subprocess.run([*XGETTEXT, f"--directory={ROOT}", f"--files-from={ROOT}/po/POTFILES.in", f"--output={out}"],
                   check=True, stderr=subprocess.PIPE, text=True)
    return out.read_text(encoding="utf-8")


def turn_round(template: str) -> str:
    """A language in which every sentence stands in brackets."""
    header, *entries = re.split(r"\n\n(?=(?:#.*\n)*msgid )", template.replace("charset=CHARSET", "charset=UTF-8"))
    out = [header]
    for entry in entries:
        sentence = "".join(re.findall(r'^(?:msgid )?"(.*)"$', entry.split("msgstr")[0], re.MULTILINE))
        end = r"\n" if sentence.endswith(r"\n") else ""
        out.append(re.sub(r'msgstr ""\s*$', lambda _: f'msgstr "<{sentence.removesuffix(end)}>{end}"', entry))
    return "\n\n".join(out) + "\n"


def make_locale(folder: Path) -> bool:
    """C.UTF-8 under the name xx_XX.UTF-8: gettext of newer C libraries translates nothing in any locale called C."""
    if not C_LOCALE.is_dir():
        return False
    shutil.copytree(C_LOCALE, folder / "locales" / "xx_XX.utf8")
    return True


def read_translated(command: list[str], folder: Path) -> str:
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          env=dict(os.environ, TEXTDOMAINDIR=str(folder), LC_ALL="xx_XX.UTF-8", LANGUAGE="xx",
                                   LOCPATH=str(folder / "locales")))
    return done.stdout


def check_translation(tap: Tap, folder: Path, programs: list[str]) -> None:
    template = collect(folder / "template.pot")
    found = template.count("\nmsgid ") - 1
    tap.case(found > 80 and "No device for device" in template, "xgettext collects the sentences",
             f"{found} found")
    (folder / "xx.po").write_text(turn_round(template), encoding="utf-8")
    compiled = folder / "xx" / "LC_MESSAGES" / f"{DOMAIN}.mo"
    compiled.parent.mkdir(parents=True)
    checked = subprocess.run(["msgfmt", "--check-format", "-o", str(compiled), str(folder / "xx.po")],
                             stderr=subprocess.PIPE, text=True)
    tap.case(checked.returncode == 0, "sentences are formats that a translator can follow", checked.stderr)
    if not make_locale(folder):
        tap.skip("a translation is what people read", f"there is no {C_LOCALE}")
        return
    for program in programs:
        # The second argument of the same option in the source.
        said = read_translated([program, "--help"], folder)
        tap.case("<print " in said and said.count("<") >= 5, f"{Path(program).name} --help in another language", said)
    if not shutil.which("gst-launch-1.0"):
        tap.skip("a message of an element in another language", "gst-launch-1.0 is not installed")
        return
    said = read_translated(["gst-launch-1.0", "fakesrc", "num-buffers=1", "!", "video/x-vp8", "!", "dxvadec",
                            "device=/dev/dri/renderD255", "software-fallback=false", "!", "fakesink"], folder)
    tap.case("<No device for device=/dev/dri/renderD255" in said, "a message of an element in another language",
             said)


def main() -> None:
    tap = Tap()
    check_the_checks(tap)
    check_sources(tap, sources())
    missing = [tool for tool in ("xgettext", "msgfmt") if not shutil.which(tool)]
    if missing:
        tap.skip("a translation is what people read", f"{missing[0]} is not installed")
    else:
        with tempfile.TemporaryDirectory() as folder:
            check_translation(tap, Path(folder), sys.argv[1:])
    tap.end()


if __name__ == "__main__":
    main()
