#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Two DRM devices, and a real OpenGL on one of them: the decoder goes where that one is."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import re  # noqa: E402

from rig import CROPPED, NO_SWITCH, chain, clip, main, ran  # noqa: E402

DRIVER = {"LIBVA_DRIVER_NAME": "dxvasoft", "DXVASOFT_MEMORY": "dma-heap", "GST_DXVA_DEVICE": "auto", **NO_SWITCH}
NODES = ["/dev/dri/renderD128", "/dev/dri/renderD129"]


def launched(device: str) -> str:
    return ran(["gst-launch-1.0", "-v", "filesrc", f"location={clip(CROPPED)}", "!", "h264parse", "!", "dxvadec",
                f"device={device}", "!", "dxvaglupload", "!", "fakesink"], DRIVER)


def drawing_node(said: str) -> str:
    """What dxvaglupload announced, which EGL told it."""
    found = re.search(r"gst\.dxva\.gl\.device=context, node=\(string\)\"?([^,\"]*)", said)
    assert found, said
    return found.group(1)


def the_decoder_is_on_the_gpu_of_opengl() -> None:
    node = drawing_node(launched("auto"))
    found = chain(CROPPED, "dxvadec name=dec", "dxvaglupload name=up", **DRIVER)
    device = found["elements"]["dec"]["stats"]["device"]
    assert (node or NODES[0]) in device, f"OpenGL on '{node}', decoder on {device}"


def another_gpu_by_name_is_told_once() -> None:
    node = drawing_node(launched("auto"))
    if not node:
        print("# OpenGL is on no GPU here, so none is another one")
        assert "decoded on" not in launched(NODES[1])
        return
    other = next(one for one in NODES if one != node)
    said = launched(other)
    assert said.count(f"decoded on {other}") == 1 and f"drawn on {node}" in said, said
    assert "decoded on" not in launched(node)


main([(case.__name__, case) for case in [the_decoder_is_on_the_gpu_of_opengl, another_gpu_by_name_is_told_once]])
