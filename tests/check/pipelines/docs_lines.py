#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Every line of a command that docs/ shows, run as it stands. Those of README.md and CONTRIBUTING.md are launch.py's; links
are pages.py's.

docs_lines.py BUILD

The lines are run on an X server of their own, in a folder that holds clip.mp4 (one second), with the
variables of ./dev's rig, but without those that keep GStreamer from opening a window."""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

import rig  # noqa: E402
import x_server  # noqa: E402
from tap import Tap, skip_all  # noqa: E402

ROOT = Path(__file__).resolve().parents[3]
DOCS = sorted((ROOT / "docs").rglob("*.md")) + [ROOT / "lib" / "softva" / "README.md"]
PROGRAMS = r"(?:[A-Z_]+=\S+ )*(?:gst-launch-1\.0|gst-play-1\.0|xvfb-run|dxva-doctor)\b"


def lines_of(page: Path) -> list[str]:
    """Lines of commands inside fences, joined where a backslash continues them."""
    out = []
    for block in re.findall(r"^```\w*\n(.*?)^```", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL):
        block = re.sub(r"\\\n\s*", "", block)
        out += [line for line in block.splitlines() if re.match(PROGRAMS, line)]
    return out


def run_line(line: str, folder: Path) -> rig.Ran:
    # Nothing is left behind, and this build's folder may have another name than a checkout's.
    line = line.replace("/tmp/", f"{folder}/")
    line = re.sub(r"(?<=[= ])build/", f"{Path(sys.argv[1]).resolve()}/", line)
    if "xvfb-run" not in line:
        # A sink that opens a window gets one; the others do not notice. gst-play waits for keys.
        line = "unset GST_GL_WINDOW GST_GL_PLATFORM GST_GL_API; exec " + x_server.RUN + " bash -c " + \
            "'" + line.replace("'", "'\\''") + "'"
    else:
        line = x_server.staying(line)
    return rig.run(f'cd "{folder}" && {line}')


def left_empty(line: str, folder: Path) -> list[str]:
    """Files that the line should have written pictures into. A container without any is smaller than this."""
    names = [Path(word.split("=", 1)[1].strip("\"'")) for word in re.findall(r"filesink location=\S+", line)]
    return [str(name) for name in names if not (folder / name).is_file() or (folder / name).stat().st_size < 2000]


def main() -> None:
    if not Path(rig.clip()).is_file():
        skip_all("no clip: ./dev test makes one")
    tap = Tap()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        subprocess.run(["ffmpeg", "-nostdin", "-v", "error", "-i", rig.clip(), "-t", "1", "-c", "copy",
                        str(folder / "clip.mp4")], check=True, stdin=subprocess.DEVNULL)
        ran = run_line("gst-launch-1.0 filesrc location=clip.mp4 ! qtdemux ! h264parse ! dxvadec no-such=1 ! fakesink",
                       folder)
        tap.case(ran.status not in (0, None), "a line that does not work is noticed", str(ran)[-3000:])
        found = 0
        for page in DOCS:
            for line in lines_of(page):
                found += 1
                name = f"{page.name}: {line.split('   #')[0]}"
                if "/dev/dri/" in line and rig.name() != rig.GPU:
                    tap.skip(name, "it names a GPU")
                    continue
                ran = run_line(line, folder)
                # What is wrong with a machine is the doctor's exit status.
                good = ran.status in (0, 1, 2) if "dxva-doctor" in line else ran.status == 0
                empty = left_empty(line, folder) if "%" not in line and "$" not in line else []
                tap.case(good and not empty and "ERROR" not in ran.err and "CRITICAL" not in ran.err, name,
                         f"without pictures: {empty}; {str(ran)[-3000:]}")
        tap.case(found >= 25, "the pages have lines to run", f"{found} found")
    tap.end()


if __name__ == "__main__":
    os.environ.setdefault("XDG_RUNTIME_DIR", tempfile.gettempdir())
    main()
