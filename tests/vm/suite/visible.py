#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""DRM nodes that OpenGL finds. Mesa's software driver for such nodes dies at the first draw from a dma-buf that another
device made, so what counts is that nothing is imported there unasked, and that the pictures are right."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from rig import CROPPED, DEEP, IMPORT, NO_SWITCH, PLAIN, all_on, chain, main, play, reasons_of, steps_of  # noqa: E402

DRIVER = {"LIBVA_DRIVER_NAME": "dxvasoft", "GST_VA_ALL_DRIVERS": "1"}
RIG = sys.argv[1]  # vgem, or vgem+virtio-gpu


def the_process_lives_and_copies() -> None:
    for memory, name in (("dma-heap", PLAIN), ("udmabuf", CROPPED)):
        found = play(name, DXVASOFT_MEMORY=memory, **NO_SWITCH)
        all_on("cpu-copy", found["steps"])
        assert "software-renderer" in found["reasons"], found


def other_layouts_and_depths_are_copied_too() -> None:
    for name, layout in ((DEEP, "two-objects"), (CROPPED, "tiled")):
        found = play(name, DXVASOFT_MEMORY="dma-heap", DXVASOFT_LAYOUT=layout, **NO_SWITCH)
        all_on("cpu-copy", found["steps"])


def failed_exports_change_nothing_to_be_seen() -> None:
    found = play(PLAIN, DXVASOFT_MEMORY="udmabuf", DXVASOFT_FAULT="export:every=7", **NO_SWITCH)
    all_on("cpu-copy", found["steps"])


def upstreams_decoder_into_ours() -> None:
    found = chain(PLAIN, "vah264dec name=dec", "dxvaglupload name=up", DXVASOFT_MEMORY="dma-heap", **DRIVER,
                  **NO_SWITCH)
    all_on("cpu-copy", steps_of(found, "up"))
    assert "software-renderer" in reasons_of(found, "up"), found


def our_decoder_on_the_first_node() -> None:
    found = chain(CROPPED, "dxvadec name=dec device=/dev/dri/renderD128", "dxvaglupload name=up",
                  DXVASOFT_MEMORY="dma-heap", **DRIVER, **NO_SWITCH)
    all_on("cpu-copy", steps_of(found, "up"))


def a_driver_that_refuses_foreign_buffers_gets_copies() -> None:
    found = chain(CROPPED, "dxvadec name=dec device=software", "dxvaglupload name=up", DXVASOFT_MEMORY="dma-heap",
                  **IMPORT)
    all_on("cpu-copy", steps_of(found, "up"))
    assert any(reason.startswith("egl-") for reason in reasons_of(found, "up")), found


def two_nodes_are_two_devices() -> None:
    seen = set()
    for node in ("/dev/dri/renderD128", "/dev/dri/renderD129"):
        found = chain(CROPPED, f"dxvadec name=dec device={node}", "dxvaglupload name=up", DXVASOFT_MEMORY="dma-heap",
                      **DRIVER, **NO_SWITCH)
        seen.add(found["elements"]["dec"]["stats"]["device"])
    assert len(seen) == 2, seen


cases = [the_process_lives_and_copies, other_layouts_and_depths_are_copied_too,
         failed_exports_change_nothing_to_be_seen, upstreams_decoder_into_ours, our_decoder_on_the_first_node]
if RIG == "vgem+virtio-gpu":
    cases += [a_driver_that_refuses_foreign_buffers_gets_copies, two_nodes_are_two_devices]
main([(case.__name__, case) for case in cases])
