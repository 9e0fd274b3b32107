#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""A device that returns before the picture is there and puts a fence of the kernel's on its dma-bufs (vgem's, signalled
by the bundled driver). Towards our uploader pictures leave with the fence, towards everybody else when they are there.

The node is as in unlisted.py: OpenGL finds none.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from rig import (IMPORT, LONG, PLAIN, DriverLog, all_on, chain, chain_into, chain_into_glupload, main,  # noqa: E402
                 steps_of)

OURS = "dxvadec name=dec device=software"
# Longer than the decoder needs for the pictures between a picture's decoding and its output.
LATE = {"DXVASOFT_MEMORY": "dma-heap", "DXVASOFT_LATE_MS": "400", **IMPORT}
FENCED = {"DXVASOFT_FENCES": "vgem", **LATE}


def unfinished(found: dict) -> int:
    return found["elements"]["dec"]["stats"]["unfinished"]


def frames(found: dict) -> int:
    return found["elements"]["dec"]["stats"]["frames"]


def waits(log: DriverLog) -> list[str]:
    """Calls of vaSyncSurface that found the picture unfinished, while pictures were still decoded: at the end of the
    stream all that is out is waited for."""
    lines = log.lines("endpicture", "sync")
    last = max(at for at, line in enumerate(lines) if line.startswith("endpicture"))
    return [line for line in lines[:last] if line.endswith(" rendering")]


def pictures_leave_with_their_fences_and_the_decoder_waits_for_none() -> None:
    for memory in ("dma-heap", "udmabuf"):
        with DriverLog() as log:
            found = chain(LONG, OURS, "dxvaglupload name=up", **{**FENCED, "DXVASOFT_MEMORY": memory},
                          DXVASOFT_LOG=log.file)
            # A picture that was there already is neither: a busy machine may have some.
            assert unfinished(found) > 0, found
            assert not waits(log), waits(log)
            # The device was asked about each of them all the same.
            assert len(log.lines("sync")) == frames(found), log.lines("sync")
        all_on("exported", steps_of(found, "dec"))
        all_on("egl", steps_of(found, "up"))


def an_uploader_in_a_thread_of_its_own_waits_alone() -> None:
    with DriverLog() as log:
        # Room for all of them downstream, or the decoder copies, for which it has to wait.
        found = chain(PLAIN, f"{OURS} extra-surfaces=24 ! queue", "dxvaglupload name=up", **FENCED,
                      DXVASOFT_LOG=log.file)
        assert unfinished(found) > 0, found
        assert not waits(log), waits(log)
    all_on("egl", steps_of(found, "up"))


def an_uploader_that_copies_waits_too() -> None:
    found = chain(PLAIN, OURS, "dxvaglupload name=up import=copy", **FENCED)
    assert unfinished(found) > 0, found
    all_on("cpu-copy", steps_of(found, "up"))


def two_objects_have_a_fence_each() -> None:
    found = chain(PLAIN, OURS, "dxvaglupload name=up", **FENCED, DXVASOFT_LAYOUT="two-objects")
    assert unfinished(found) > 0, found
    all_on("egl", steps_of(found, "up"))


def without_a_fence_the_decoder_waits() -> None:
    with DriverLog() as log:
        found = chain(PLAIN, OURS, "dxvaglupload name=up", **LATE, DXVASOFT_LOG=log.file)
        assert waits(log)
    assert unfinished(found) == 0, found
    all_on("egl", steps_of(found, "up"))


def strangers_get_finished_pictures() -> None:
    found = chain_into_glupload(PLAIN, OURS, **FENCED)
    assert unfinished(found) == 0, found


def branches_of_a_tee_that_all_wait_get_pictures_with_their_fences() -> None:
    up = "dxvaglupload name={} ! video/x-raw(memory:GLMemory),format=NV12"
    ignored = "fakesink sync=false async=false"
    # Room for all of them, as above.
    found = chain_into(PLAIN, f"{OURS} extra-surfaces=24 ! tee name=t t. ! queue ! {up.format('other')} ! {ignored} "
                       f"t. ! queue ! {up.format('up')}", **FENCED)
    assert unfinished(found) > 0, found
    all_on("egl", steps_of(found, "up"))
    all_on("egl", steps_of(found, "other"))


def a_stranger_in_one_branch_of_a_tee_gets_finished_pictures() -> None:
    found = chain_into(PLAIN, f"{OURS} ! tee name=t t. ! queue ! glupload ! fakesink sync=false async=false "
                       "t. ! queue ! dxvaglupload name=up ! video/x-raw(memory:GLMemory),format=NV12", **FENCED)
    assert unfinished(found) == 0, found


def a_device_that_fails_after_the_picture_left_is_told_and_left() -> None:
    # So late that the first picture has surely left when it fails.
    found = chain(PLAIN, OURS, "dxvaglupload name=up", **{**FENCED, "DXVASOFT_LATE_MS": "4000"},
                  DXVASOFT_FAULT="sync:at=1")
    steps = steps_of(found, "dec")
    assert unfinished(found) > 0 and steps["software"] > 0, found
    assert found["elements"]["dec"]["stats"]["errors"] == 1, found
    assert [change["reason"] for change in found["path-changes"] if change["to"] == "software"] == ["sync-failed"], found
    assert len(found["warnings"]) == 1 and "shown already" in found["warnings"][0], found


main([(case.__name__, case) for case in [
    pictures_leave_with_their_fences_and_the_decoder_waits_for_none, an_uploader_in_a_thread_of_its_own_waits_alone,
    an_uploader_that_copies_waits_too, two_objects_have_a_fence_each, without_a_fence_the_decoder_waits,
    strangers_get_finished_pictures, a_stranger_in_one_branch_of_a_tee_gets_finished_pictures,
    branches_of_a_tee_that_all_wait_get_pictures_with_their_fences,
    a_device_that_fails_after_the_picture_left_is_told_and_left]])
