#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""vgem's render node can be opened but not found: VA clients go there by name, OpenGL lists folders and sees none.

That is how a GPU that decodes and a renderer that maps its dma-bufs meet on one emulated machine.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from rig import CROPPED, IMPORT, PLAIN, all_on, caps_into, chain, is_drm, main, steps_of  # noqa: E402

DRIVER = {"LIBVA_DRIVER_NAME": "dxvasoft", "GST_VA_ALL_DRIVERS": "1"}
NODE = "/dev/dri/renderD128"


def upstreams_decoder_and_ours_negotiate_dma_drm() -> None:
    found = chain(PLAIN, "vah264dec name=dec", "dxvaglupload name=up", DXVASOFT_MEMORY="dma-heap", **DRIVER, **IMPORT)
    is_drm(caps_into(found, "up"))
    all_on("egl", steps_of(found, "up"))


def upstreams_decoder_on_udmabuf() -> None:
    found = chain(PLAIN, "vah264dec name=dec", "dxvaglupload name=up", DXVASOFT_MEMORY="udmabuf", **DRIVER, **IMPORT)
    is_drm(caps_into(found, "up"))
    all_on("egl", steps_of(found, "up"))


def our_decoder_on_a_render_node() -> None:
    found = chain(CROPPED, f"dxvadec name=dec device={NODE}", "dxvaglupload name=up", DXVASOFT_MEMORY="dma-heap",
                  **DRIVER, **IMPORT)
    is_drm(caps_into(found, "up"))
    all_on("egl", steps_of(found, "up"))
    assert NODE in found["elements"]["dec"]["stats"]["device"], found


main([(case.__name__, case) for case in [
    upstreams_decoder_and_ours_negotiate_dma_drm, upstreams_decoder_on_udmabuf, our_decoder_on_a_render_node]])
