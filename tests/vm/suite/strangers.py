#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Streams of the collection through GStreamer's VA elements on a render node, as any machine has them, and from real
dma-bufs into our textures: every frame is the known one. One for each codec and depth, since this processor is
emulated; tests/check/media/gstva_rows.py has all of them.

The node is as in unlisted.py: OpenGL finds none.
"""

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parent), "/project/tests/check/support", "/project/tests/check/media"]

import manifest  # noqa: E402
from gstva_client import decoded  # noqa: E402
from gstva_rows import FORMATS, GSTVAS_OWN, difference, pixels, playable  # noqa: E402
from rig import BUILD, IMPORT, all_on, main, ran, steps_of  # noqa: E402
from tap import skip_all  # noqa: E402

DRIVER = {"LIBVA_DRIVER_NAME": "dxvasoft", "GST_VA_ALL_DRIVERS": "1", "DXVASOFT_MEMORY": "dma-heap", **IMPORT}
# What this processor has the time for: one second is some frames of 320x240.
MOST_FRAMES = 20
MOST_PIXELS = 400_000  # of all frames


def chosen() -> list[manifest.Stream]:
    """Of each kind the one with the most frames."""
    short = [stream for stream in playable() if pixels(stream) <= MOST_PIXELS and len(stream.hashes) <= MOST_FRAMES
             and stream.file not in GSTVAS_OWN]
    short.sort(key=lambda stream: (len(stream.hashes), pixels(stream)))
    return list({(stream.codec, stream.pixel_format): stream for stream in short}.values())


def case(stream: manifest.Stream) -> Callable[[], None]:
    def right_without_a_copy() -> None:
        texture = f"video/x-raw(memory:GLMemory),format={FORMATS[stream.pixel_format]}"
        found = json.loads(ran([str(BUILD / "tests/check/support/chain"), f"{decoded(stream.codec, stream.path)} ! "
                                f"dxvaglupload name=up ! {texture} ! appsink name=out"], DRIVER))
        wrong = difference(stream, found["frames"])
        assert not wrong, f"{wrong}\n{found}"
        all_on("egl", steps_of(found, "up"))
    return right_without_a_copy


if not os.access(manifest.folder() / "manifest.tsv", os.R_OK):
    skip_all("no collection of streams (DXVA_MEDIA names its folder)")
main([(stream.file, case(stream)) for stream in chosen()])
