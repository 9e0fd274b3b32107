# SPDX-License-Identifier: LGPL-2.1-or-later
"""Whom we are compared with, on the same driver and in the same run."""

import os
from pathlib import Path

from plan import Plan
from ways import Program

GPU = "gpu"  # DXVA_RIG of a machine with one


def on_gpu() -> bool:
    return os.environ.get("DXVA_RIG") == GPU


def imports() -> bool:
    """Whether OpenGL takes the decoder's memory on this rig."""
    return os.environ.get("DXVA_RIG") in (GPU, "memfd")


def gst_va(plan: Plan) -> dict[str, str]:
    """The environment in which GStreamer's own VA elements are there; without a GPU by tests/check/support's library, on
    the bundled driver. The registry is theirs alone: in it they exist."""
    if on_gpu():
        return {}
    plan.folder.mkdir(parents=True, exist_ok=True)
    return {"LD_PRELOAD": str(plan.build / "tests/check/support/libgstva_shim.so"),
            "GST_REGISTRY": str(plan.folder / "gstva-registry.bin"), "GST_VA_ALL_DRIVERS": "1"}


def ffmpeg(plan: Plan, name: str, clip: Path, *output: str) -> Program:
    """Decodes with VA-API, on one thread as all others here. Without a GPU libva is asked for the same display as by
    gst-va."""
    node = "/dev/dri/renderD128" if on_gpu() else "/dev/dri/renderDxvasoft"
    environment = {} if on_gpu() else {"LD_PRELOAD": gst_va(plan)["LD_PRELOAD"]}
    return Program(name, ["ffmpeg", "-nostdin", "-v", "error", "-threads", "1", "-hwaccel", "vaapi",
                          "-hwaccel_device", node, *output, "-i", str(clip), "-map", "0:v:0", "-f", "null", "-"],
                   environment=environment)
