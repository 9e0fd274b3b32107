#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The example programs, as somebody who copies them would run them.

examples.py THUMBNAILER [PLAYER]"""

import re
import shutil
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

import rig  # noqa: E402
import x_server  # noqa: E402
from tap import Tap, skip_all  # noqa: E402

ROOT = Path(__file__).resolve().parents[3]

def rgb(png: Path) -> bytes:
    out = png.with_suffix(".rgb")
    rig.run(f'gst-launch-1.0 -q filesrc location="{png}" ! pngdec ! videoconvert ! video/x-raw,format=RGB ! '
            f'filesink location="{out}"')
    return out.read_bytes() if out.is_file() else b""


def far_apart(one: bytes, other: bytes) -> float:
    """Share of samples that differ. NV12 and I420 interpolate chroma otherwise, at edges only."""
    if not one or len(one) != len(other):
        return 1.0
    return sum(abs(a - b) > 8 for a, b in zip(one, other)) / len(one)


def do_what_the_page_says(tap: Tap) -> None:
    """The lines of applications.md that build and start the programs, in a folder with nothing but their sources."""
    text = (ROOT / "docs" / "plugins" / "applications.md").read_text(encoding="utf-8")
    lines = re.findall(r"^(?:g\+\+ |\./).*$", text, re.MULTILINE)
    tap.case(len(lines) == 4, "applications.md has two lines that build and two that run", "\n".join(lines))
    with tempfile.TemporaryDirectory() as folder:
        for source in (ROOT / "examples").glob("*.cpp"):
            shutil.copy(source, folder)
        rig.run(["ffmpeg", "-nostdin", "-v", "error", "-i", rig.clip(), "-t", "1", "-c", "copy", f"{folder}/clip.mp4"])
        for line in lines:
            ran = rig.run("unset GST_GL_WINDOW GST_GL_PLATFORM GST_GL_API; "
                          f"cd '{folder}' && {x_server.RUN} bash -c '{line}'")
            tap.case(ran.status == 0, f"applications.md: {line}", str(ran))
        tap.case(rgb(Path(folder, "thumbnail.png")) != b"", "and there is a thumbnail")


def main() -> None:
    if not Path(rig.clip()).is_file():
        skip_all("no clip: ./dev test makes one")
    thumbnailer, player = sys.argv[1], (sys.argv + [""])[2]
    tap = Tap()
    with tempfile.TemporaryDirectory() as folder:
        pictures = {}
        for decoder, ranks, second in (("dxvadec", "", "5.1"), ("avdec_h264", "dxvadec:NONE", "5.1"),
                                       ("avdec_h264", "dxvadec:NONE", "5.15")):
            out = Path(folder, f"{decoder}-{second}.png")
            ran = rig.run([thumbnailer, rig.clip(), second, str(out)], GST_PLUGIN_FEATURE_RANK=ranks)
            pictures[decoder, second] = rgb(out)
            tap.case(ran.status == 0 and f"decoder: {decoder}" in ran.out and pictures[decoder, second] != b"",
                     f"thumbnailer makes a picture of {second} s with {decoder}", str(ran))
        ours = pictures["dxvadec", "5.1"]
        share = far_apart(ours, pictures["avdec_h264", "5.1"])
        next_share = far_apart(ours, pictures["avdec_h264", "5.15"])
        tap.case(share < 0.05 and share * 1.2 < next_share, "and it is the same picture, not the next one",
                 f"{share:.2%} of the samples differ, {next_share:.2%} from the next picture")
        ran = rig.run([thumbnailer, str(Path(folder, "none.mp4")), "1", str(Path(folder, "none.png"))])
        tap.case(ran.status == 1 and "thumbnailer:" in ran.err, "thumbnailer says what it cannot play", str(ran))
        ran = rig.run([thumbnailer, rig.clip(), "1000", str(Path(folder, "late.png"))])
        tap.case(ran.status == 1 and "thumbnailer: there is no " in ran.err, "and that the video is shorter", str(ran))
        for odd in ("late.png", "-1", "1e300", "nan", ""):
            ran = rig.run([thumbnailer, rig.clip(), odd, str(Path(folder, "odd.png"))])
            tap.case(ran.status == 1 and "SECONDS is no time" in ran.err and not Path(folder, "odd.png").exists(),
                     f"and that '{odd}' is no number of seconds", str(ran))

    if not player:
        tap.skip("player", "SDL2 or GStreamer's X11 headers are missing")
    else:
        do_what_the_page_says(tap)
        ran = rig.run("unset GST_GL_WINDOW GST_GL_PLATFORM GST_GL_API; "
                      f'{x_server.RUN} "{player}" --frames 40 "$DXVA_CLIP"')
        frames = re.search(r"^(\d+) frames", ran.out, re.MULTILINE)
        tap.case(ran.status == 0 and frames is not None and int(frames[1]) == 40 and "dxvaglupload-stats" in ran.out,
                 "player draws frames in SDL's context", str(ran))
        ran = rig.run(f'{x_server.RUN} "{player}" /no/such/file.mp4')
        tap.case(ran.status == 1 and "player:" in ran.err, "player says what it cannot play", str(ran))
    tap.end()


if __name__ == "__main__":
    main()
