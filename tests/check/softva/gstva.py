#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""GStreamer's own VA elements on the software driver: whatever libavcodec's client is to it, they are strangers.
They have parsers and books of references of their own, every frame equals libavcodec's software decoder's, and what
they tell the driver of each picture is what libavcodec's client tells it, but for what va_parameters.py lists.
TAP on stdout."""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

import clients  # noqa: E402
import streams  # noqa: E402
import va_parameters  # noqa: E402
from gstva_client import PARSERS, SECONDS, GstVa  # noqa: E402
from tap import Tap, skip_all  # noqa: E402

# A surface's format, and what its samples are called without padding by GStreamer and by FFmpeg.
PLANAR = {"nv12": ("I420", "yuv420p"), "p010le": ("I420_10LE", "yuv420p10le"), "yuv422p": ("Y42B", "yuv422p"),
          "yuv444p": ("Y444", "yuv444p")}
      # videocodectestsink has one format to the end of a stream; these sizes change at one depth.
SIZES_CHANGE = {"sizes.265": "nv12"}


@dataclass(frozen=True)
class Case:
    codec: str
    name: str
    surface: str
    make: object  # a folder -> the stream's path


def clip(index: int, options: str, size: str):
    # A source for each: they are made side by side.
    def make(folder: Path) -> Path:
        own = folder / f"clip{index}"
        own.mkdir()
        return clients.make_clip(options, size, own, f"clip{index}")
    return make


def recipe_maker(recipe: streams.Recipe):
    def make(folder: Path) -> Path:
        own = folder / recipe.file.replace(".", "-")
        own.mkdir()
        return recipe.make(own)
    return make


def cases() -> list[Case]:
    made = [Case("h264", name, "nv12", clip(i, options, size))
            for i, (name, (options, size)) in enumerate(clients.CLIPS.items())]
    for recipe in streams.RECIPES:
        surface = recipe.surface or SIZES_CHANGE.get(recipe.file)
        if surface:
            made.append(Case(recipe.codec, recipe.name, surface, recipe_maker(recipe)))
    return made


def reference(media: Path, out: Path, pixel_format: str) -> None:
    subprocess.run(["ffmpeg", "-nostdin", "-v", "error", "-noautorotate", "-i", str(media), "-map", "0:v:0", "-vf",
                    f"scale=in_range=full:out_range=full,format={pixel_format}", "-fps_mode", "passthrough",
                    "-noautoscale", "-c:v", "rawvideo", "-f", "rawvideo", str(out)], check=True,
                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=SECONDS)


def first_difference(one: Path, other: Path) -> int | None:
    """The byte from which on two files are not the same."""
    at = 0
    with one.open("rb") as left, other.open("rb") as right:
        while True:
            a, b = left.read(1 << 16), right.read(1 << 16)
            if a != b:
                return at + next((i for i, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)))
            if not a:
                return None
            at += len(a)


def picture_problem(gstva: GstVa, case: Case, media: Path, parameters: Path) -> str:
    """Empty when gst-va's frames are libavcodec's. Leaves its parameters in a file."""
    gst_format, ffmpeg_format = PLANAR[case.surface]
    right, got = media.with_suffix(".right"), media.with_suffix(".got")
    try:
        reference(media, right, ffmpeg_format)
        run = gstva.decode(case.codec, media, got, gst_format, {"DXVASOFT_PARAMETERS": str(parameters)})
        if not right.stat().st_size:
            return "libavcodec has no frame"
        if run.returncode or not got.exists():
            return f"exit status {run.returncode}: {run.stdout}"
        different = first_difference(right, got)
        return "" if different is None else (f"first different byte {different} of {right.stat().st_size}, "
                                             f"gst-va has {got.stat().st_size}; {run.stdout}")
    finally:
        for file in (right, got):
            file.unlink(missing_ok=True)


@dataclass(frozen=True)
class Verdict:
    pictures: str = ""
    parameters: str = ""
    skip: str = ""


def judge(gstva: GstVa, ffmpeg: clients.Clients | None, lacking: dict[str, str | None], folder: Path, case: Case) -> Verdict:
    if lacking[case.codec]:
        return Verdict(skip=lacking[case.codec])
    try:
        media = case.make(folder)
    except (subprocess.SubprocessError, OSError) as error:
        return Verdict(skip=f"cannot be made: {str(error).splitlines()[0][:100]}")
    parameters = media.with_suffix(".gstva")
    try:
        return Verdict(picture_problem(gstva, case, media, parameters),
                       va_parameters.problem(ffmpeg, case.codec, media, case.surface, clients.DECODERS.get(case.codec),
                                             media.parent, parameters) if ffmpeg else "")
    except subprocess.TimeoutExpired:
        return Verdict(pictures=f"no end after {SECONDS} s")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--drivers", required=True, type=Path, help="folder of dxvasoft_drv_video.so")
    parser.add_argument("--shim", required=True, type=Path, help="libgstva_shim.so")
    arguments = parser.parse_args()
    for program in ("ffmpeg", "gst-launch-1.0", "Xvfb"):
        if not shutil.which(program):
            skip_all(f"no program {program}")
    tap = Tap()
    with clients.Xvfb() as display, tempfile.TemporaryDirectory() as name, \
            ThreadPoolExecutor(os.cpu_count()) as pool:
        folder = Path(name)
        gstva = GstVa(arguments.shim.resolve(), arguments.drivers.resolve(), folder)
        other = va_parameters.unknown_version()
        ffmpeg = None if other else clients.Clients(display, arguments.drivers.resolve())
        lacking = {codec: gstva.lacks(codec) for codec in PARSERS}
        todo = cases()
        for case, verdict in zip(todo, pool.map(lambda c: judge(gstva, ffmpeg, lacking, folder, c), todo)):
            title = f"gst-va: {case.codec}, {case.name}"
            if verdict.skip:
                tap.skip(title, verdict.skip)
                continue
            tap.case(not verdict.pictures, title, verdict.pictures)
            if not other:
                tap.case(not verdict.parameters, f"{title}: parameters as libavcodec's", verdict.parameters)
        if other:
            tap.skip("gst-va: parameters as libavcodec's", other)
    tap.end()


if __name__ == "__main__":
    main()
