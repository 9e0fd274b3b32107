#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""No DRM node: OpenGL is plain llvmpipe, which maps any dma-buf. Every frame must come without a copy."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from rig import (CROPPED, IMPORT, NO_SWITCH, PLAIN, all_on, caps_into, chain, chain_into_glupload,  # noqa: E402
                 is_drm, main, play, reasons_of, steps_of)

OURS = "dxvadec name=dec device=software"


def zero_copy_from(memory: str, name: str = PLAIN) -> dict:
    found = play(name, DXVASOFT_MEMORY=memory, **IMPORT)
    all_on("egl", found["steps"])
    return found


def heap_surfaces_become_textures() -> None:
    zero_copy_from("dma-heap")


def udmabuf_surfaces_become_textures() -> None:
    zero_copy_from("udmabuf", CROPPED)


def the_memfd_switch_changes_nothing_for_dma_bufs() -> None:
    without = zero_copy_from("dma-heap", CROPPED)
    with_it = play(CROPPED, DXVASOFT_MEMORY="dma-heap", GST_DXVA_TEST="memfd,software-import")
    assert with_it == without, f"{without}\n{with_it}"


def a_memfd_is_no_dma_buf_without_the_switch() -> None:
    found = play(CROPPED, DXVASOFT_MEMORY="memfd", **IMPORT)
    all_on("cpu-copy", found["steps"])
    assert "not-a-dmabuf" in found["reasons"], found


def a_memfd_stands_in_with_it() -> None:
    all_on("egl", play(CROPPED, DXVASOFT_MEMORY="memfd", GST_DXVA_TEST="memfd,software-import")["steps"])


def without_any_switch_a_software_renderer_gets_copies() -> None:
    found = play(CROPPED, DXVASOFT_MEMORY="dma-heap", **NO_SWITCH)
    all_on("cpu-copy", found["steps"])
    assert "software-renderer" in found["reasons"], found


def ours_negotiate_dma_drm() -> None:
    found = chain(CROPPED, OURS, "dxvaglupload name=up", DXVASOFT_MEMORY="dma-heap", **IMPORT)
    is_drm(caps_into(found, "up"))
    all_on("egl", steps_of(found, "up"))
    assert not reasons_of(found, "up"), found


def upstreams_uploader_takes_ours() -> None:
    found = chain_into_glupload(PLAIN, OURS, DXVASOFT_MEMORY="dma-heap", **IMPORT)
    is_drm(caps_into(found, "up"))


def upstreams_uploader_takes_udmabuf_with_a_crop() -> None:
    found = chain_into_glupload(CROPPED, OURS, DXVASOFT_MEMORY="udmabuf", **IMPORT)
    is_drm(caps_into(found, "up"))


main([(case.__name__, case) for case in [
    heap_surfaces_become_textures, udmabuf_surfaces_become_textures, the_memfd_switch_changes_nothing_for_dma_bufs,
    a_memfd_is_no_dma_buf_without_the_switch, a_memfd_stands_in_with_it,
    without_any_switch_a_software_renderer_gets_copies, ours_negotiate_dma_drm, upstreams_uploader_takes_ours,
    upstreams_uploader_takes_udmabuf_with_a_crop]])
