#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""dxva-doctor on a machine with two GPUs: which one decodes, which one draws, and what to do about it."""

import json
import os
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from rig import BUILD, NO_SWITCH, SECONDS, main  # noqa: E402

DRIVER = {"LIBVA_DRIVER_NAME": "dxvasoft", "DXVASOFT_MEMORY": "dma-heap", **NO_SWITCH}


def findings(device: str) -> dict:
    done = subprocess.run([str(BUILD / "tools/doctor/dxva-doctor"), "--json"], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=SECONDS, text=True, errors="replace",
                          env=dict(os.environ, **DRIVER, GST_DXVA_DEVICE=device))
    assert done.returncode in (0, 1), f"exit status {done.returncode}\n{done.stdout}\n{done.stderr}"
    return json.loads(done.stdout)


def problems(found: dict) -> dict[str, dict]:
    return {one["id"]: one for one in found["verdict"]["problems"]}


def gpus_are_told_apart() -> None:
    found = findings("auto")
    nodes = [gpu["node"] for gpu in found["drm"]]
    assert len(nodes) == 2, found["drm"]
    drawing = found["gl"]["node"]
    assert "two-gpus" not in problems(found), found["verdict"]
    if not drawing:
        print("# OpenGL is on no GPU here, so none is another one")
        assert found["gpu-match"] == "unknown", found["gpu-match"]
        return
    assert found["gpu-match"] == "same", found["gpu-match"]

    # Somebody names the other one.
    primaries = {gpu["primary"]: gpu["node"] for gpu in found["drm"]}
    drawing = primaries.get(drawing, drawing)
    other = next(node for node in nodes if node != drawing)
    found = findings(other)
    told = problems(found).get("two-gpus")
    assert found["gpu-match"] == "different" and told, found["verdict"]
    assert other in told["what"] and found["gl"]["node"] in told["what"], told
    assert f"GST_DXVA_DEVICE={found['gl']['node']}" in told["remedy"], told


main([(gpus_are_told_apart.__name__, gpus_are_told_apart)])
