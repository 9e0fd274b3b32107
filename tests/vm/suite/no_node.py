#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""No DRM node: OpenGL is plain llvmpipe, which maps any dma-buf. Every frame must come without a copy."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.path.append("/project/tests/check/pipelines")

from faults_rows import copies_of_failed_exports  # noqa: E402
from rig import (CROPPED, DEEP, IMPORT, LONG, NO_SWITCH, PLAIN, all_on, caps_into, chain, chain_into,  # noqa: E402
                 chain_into_glupload, is_drm, main, play, played, reasons_of, steps_of)

OURS = "dxvadec name=dec device=software"
TILED = "NV12:0x7f00000000000001"  # the driver's made-up modifier


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
    for what in ("steps", "reasons", "path-changes", "renderer"):
        assert with_it[what] == without[what], f"{without}\n{with_it}"


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
    # Only there, and true, when memfds may stand for dma-bufs.
    assert "test-memfd" not in found["elements"]["up"]["stats"], found


def upstreams_uploader_takes_ours() -> None:
    found = chain_into_glupload(PLAIN, OURS, DXVASOFT_MEMORY="dma-heap", **IMPORT)
    is_drm(caps_into(found, "up"))


def upstreams_uploader_takes_udmabuf_with_a_crop() -> None:
    found = chain_into_glupload(CROPPED, OURS, DXVASOFT_MEMORY="udmabuf", **IMPORT)
    is_drm(caps_into(found, "up"))


def ten_bits_become_textures_without_a_copy() -> None:
    zero_copy_from("dma-heap", DEEP)
    found = chain(DEEP, OURS, "dxvaglupload name=up", DXVASOFT_MEMORY="udmabuf", **IMPORT)
    is_drm(caps_into(found, "up"), "P010")
    all_on("egl", steps_of(found, "up"))


def tiles_that_opengl_does_not_take_are_copied() -> None:
    found = chain(CROPPED, OURS, "dxvaglupload name=up", DXVASOFT_MEMORY="dma-heap", DXVASOFT_LAYOUT="tiled",
                  DXVASOFT_MODIFIERS="ignored", **IMPORT)
    all_on("cpu-copy", steps_of(found, "up"))
    all_on("cpu-copy", steps_of(found, "dec"))
    assert reasons_of(found, "dec") == {"modifier-not-linear": sum(steps_of(found, "dec").values())}, found


def a_driver_that_tiles_is_asked_for_what_opengl_takes() -> None:
    found = chain(CROPPED, OURS, "dxvaglupload name=up", DXVASOFT_MEMORY="dma-heap", DXVASOFT_LAYOUT="tiled", **IMPORT)
    is_drm(caps_into(found, "up"))
    all_on("egl", steps_of(found, "up"))


def of_several_layouts_the_drivers_own_is_lent() -> None:
    several = f"{{NV12:0x0100000000000002,NV12,{TILED}}}"
    found = chain_into(CROPPED, f"{OURS} ! video/x-raw(memory:DMABuf),format=DMA_DRM,drm-format={several} ! "
                       "identity name=up", DXVASOFT_MEMORY="udmabuf", DXVASOFT_LAYOUT="tiled")
    is_drm(caps_into(found, "up"), TILED)
    all_on("exported", steps_of(found, "dec"))


def an_application_maps_tiles_and_sees_rows() -> None:
    for memory in ("dma-heap", "udmabuf"):
        found = chain_into(CROPPED, f"{OURS} ! video/x-raw(memory:DMABuf),format=DMA_DRM,drm-format={TILED} ! "
                           "identity name=up", DXVASOFT_MEMORY=memory, DXVASOFT_LAYOUT="tiled")
        is_drm(caps_into(found, "up"), TILED)
        all_on("exported", steps_of(found, "dec"))


def an_application_maps_linear_dma_bufs() -> None:
    found = chain_into(DEEP, f"{OURS} ! video/x-raw(memory:DMABuf),format=DMA_DRM,drm-format=P010 ! identity name=up",
                       DXVASOFT_MEMORY="dma-heap", DXVASOFT_LAYOUT="two-objects")
    all_on("exported", steps_of(found, "dec"))


def every_seventh_export_fails_and_its_pictures_alone_are_copied() -> None:
    run = played(LONG, DXVASOFT_MEMORY="dma-heap", DXVASOFT_FAULT="export:every=7", **IMPORT)
    assert not (wrong := copies_of_failed_exports()(run)), f"{wrong}\n{run}"


def surface_three_is_never_exported_and_alone_is_copied() -> None:
    run = played(LONG, DXVASOFT_MEMORY="udmabuf", DXVASOFT_FAULT="export:surface=3", **IMPORT)
    assert not (wrong := copies_of_failed_exports(only_surface=3)(run)), f"{wrong}\n{run}"


main([(case.__name__, case) for case in [
    heap_surfaces_become_textures, udmabuf_surfaces_become_textures, the_memfd_switch_changes_nothing_for_dma_bufs,
    a_memfd_is_no_dma_buf_without_the_switch, a_memfd_stands_in_with_it,
    without_any_switch_a_software_renderer_gets_copies, ours_negotiate_dma_drm, upstreams_uploader_takes_ours,
    upstreams_uploader_takes_udmabuf_with_a_crop, ten_bits_become_textures_without_a_copy,
    tiles_that_opengl_does_not_take_are_copied, a_driver_that_tiles_is_asked_for_what_opengl_takes,
    of_several_layouts_the_drivers_own_is_lent, an_application_maps_tiles_and_sees_rows,
    an_application_maps_linear_dma_bufs, every_seventh_export_fails_and_its_pictures_alone_are_copied,
    surface_three_is_never_exported_and_alone_is_copied]])
