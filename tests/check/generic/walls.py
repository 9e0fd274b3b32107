#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Fails when a folder includes what its row forbids; docs/design/walls.md says why the walls stand.

Only direct includes are read: a wall is about what a file says it needs.
"""

import re
import sys
from fnmatch import fnmatch
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]

# folder -> the folders of ours that it may include, besides itself
OURS = {
    "lib/base": [],
    "lib/timeline": ["lib/base"],
    "lib/video": ["lib/base"],
    "lib/drm": ["lib/base"],
    "lib/dmabuf": ["lib/base", "lib/video", "lib/drm"],
    "lib/accel": ["lib/base"],
    "lib/surface": ["lib/base", "lib/video", "lib/dmabuf", "lib/accel"],
    "lib/va": ["lib/base", "lib/video", "lib/drm", "lib/dmabuf", "lib/accel", "lib/surface"],
    "lib/cuda": ["lib/base", "lib/video", "lib/dmabuf", "lib/accel", "lib/surface"],
    "lib/decode": ["lib/base", "lib/video", "lib/drm", "lib/dmabuf", "lib/accel", "lib/surface",
                   "lib/va", "lib/cuda"],
    "lib/gl": ["lib/base", "lib/video", "lib/drm", "lib/dmabuf"],
    "lib/vulkan": ["lib/base"],
    "lib/softva": ["lib/base", "lib/video", "lib/dmabuf", "lib/vulkan"],
    "gst/common": ["lib/base", "lib/video", "lib/dmabuf"],
    "gst/tracer": ["gst/common", "lib/base", "lib/timeline"],
    "gst/dxva": ["gst/common", "gst/tracer", "lib/base", "lib/video", "lib/drm", "lib/dmabuf", "lib/accel",
                 "lib/surface", "lib/va", "lib/cuda", "lib/decode"],
    "gst/dxvagl": ["gst/common", "lib/base", "lib/video", "lib/drm", "lib/dmabuf", "lib/gl",
                   "lib/vulkan"],
    # talks to our elements by GStreamer's API only
    "tools": ["lib/base", "lib/video", "lib/drm", "lib/dmabuf", "lib/accel", "lib/surface",
              "lib/va", "lib/cuda", "lib/decode", "lib/gl", "lib/softva"],
}

# other people's headers -> the files that may include them (tests/ may include anything)
THEIRS = [
    ("GStreamer GL", ["gst/gl/*"], ["gst/dxvagl/*", "tools/*"]),
    ("GLib, GObject and GStreamer", ["gst/*", "glib*", "gio/*", "gobject/*", "gmodule*"],
     ["gst/*", "tools/*"]),
    ("VA-API", ["va/*"], ["lib/va/*", "lib/softva/*", "tools/doctor/probe_*"]),
    ("libavcodec", ["libav*/*"], ["lib/decode/avcodec_*", "lib/softva/*"]),
    ("OpenGL and EGL", ["EGL/*", "GL/*", "GLES*/*", "KHR/*"], ["lib/gl/*", "gst/dxvagl/*", "tools/doctor/probe_*"]),
    ("Vulkan", ["vulkan/*"], ["lib/vulkan/*"]),
    ("CUDA", ["cuda*"], ["lib/cuda/*"]),
]

# Our headers that name libavcodec's types, for the files behind the one interface only.
AVCODEC_FILES = "lib/decode/avcodec_*"
AVCODEC_INTERFACE = "lib/decode/avcodec_decoder.hpp"

INCLUDE = re.compile(r'^\s*#\s*include\s*(?:"([^"]+)"|<([^>]+)>)', re.MULTILINE)
CODE = {".c", ".cc", ".cpp", ".h", ".hpp"}


def folder_of(path: str) -> str | None:
    """The row that `path` belongs to: the longest that fits."""
    rows = [row for row in OURS if path.startswith(row + "/")]
    return max(rows, key=len, default=None)


def judge(file: str, include: str) -> str | None:
    """Why `file` may not include `include`, or None. Both are as written, from the root."""
    row = folder_of(file)
    if (ROOT / include).is_file():
        target = folder_of(include)
        if target is None:
            return f"{include} is in no folder of the table"
        if target != row and target not in OURS[row]:
            return f"{row} may not include {target}"
        if fnmatch(include, AVCODEC_FILES) and include != AVCODEC_INTERFACE and \
                not fnmatch(file, AVCODEC_FILES):
            return f"{include} brings libavcodec along"
        return None
    for what, headers, homes in THEIRS:
        if any(fnmatch(include, header) for header in headers):
            # The first row that fits decides: GStreamer GL is narrower than GStreamer.
            allowed = any(fnmatch(file, home) for home in homes) and \
                not (what == "libavcodec" and file == AVCODEC_INTERFACE)
            return None if allowed else \
                f"{what} stays in {', '.join(homes)}"
    return None


def check_table() -> list[str]:
    """The judge itself, on made-up files: a test that finds nothing must be able to find."""
    cases = [
        ("lib/base/x.cpp", "glib.h", False),
        ("lib/video/x.cpp", "gst/gst.h", False),
        ("lib/gl/x.cpp", "va/va.h", False),
        ("lib/va/x.cpp", "va/va.h", True),
        ("lib/accel/x.cpp", "va/va.h", False),
        ("lib/accel/x.cpp", "lib/va/surface_pool.hpp", False),
        ("lib/va/x.cpp", "lib/cuda/device.hpp", False),
        ("lib/surface/x.cpp", "lib/va/surface.hpp", False),
        ("lib/decode/x.cpp", "cuda.h", False),
        ("lib/accel/x.cpp", "lib/base/path.hpp", True),
        ("lib/decode/other.cpp", "libavcodec/avcodec.h", False),
        ("lib/decode/avcodec_decoder.cpp", "libavcodec/avcodec.h", True),
        ("lib/decode/avcodec_decoder.hpp", "libavcodec/avcodec.h", False),
        ("gst/dxva/x.cpp", "lib/decode/avcodec_decoder.hpp", True),
        ("gst/dxva/x.cpp", "lib/decode/avcodec_frame.hpp", False),
        ("lib/decode/other.cpp", "lib/decode/avcodec_frame.hpp", False),
        ("lib/decode/avcodec_decoder.cpp", "lib/decode/avcodec_frame.hpp", True),
        ("gst/dxvagl/x.cpp", "va/va.h", False),
        ("gst/dxva/x.cpp", "gst/gl/gl.h", False),
        ("gst/dxva/x.cpp", "gst/gst.h", True),
        ("tools/play/x.cpp", "va/va.h", False),
        ("tools/doctor/probe_va.cpp", "va/va_str.h", True),
        ("lib/va/x.cpp", "EGL/egl.h", False),
        ("lib/softva/x.cpp", "vulkan/vulkan_core.h", False),
        ("lib/base/x.cpp", "vector", True),
        ("lib/base/x.cpp", "lib/base/result.hpp", True),
    ]
    return [f"{file} including {include} should be {'allowed' if allowed else 'refused'}"
            for file, include, allowed in cases if (judge(file, include) is None) != allowed]


def violations() -> tuple[int, list[str]]:
    files = 0
    found = []
    for top in ("lib", "gst", "tools"):
        for path in sorted((ROOT / top).rglob("*")):
            if path.suffix not in CODE:
                continue
            files += 1
            file = path.relative_to(ROOT).as_posix()
            if folder_of(file) is None:
                found.append(f"{file}: its folder has no row in the table")
                continue
            for match in INCLUDE.finditer(path.read_text(encoding="utf-8")):
                why = judge(file, match.group(1) or match.group(2))
                if why:
                    found.append(f"{file}: {match.group(0).strip()}: {why}")
    return files, found


def main() -> int:
    table = check_table()
    files, found = violations()
    for line in table + found:
        print(f"# {line}")
    results = [(not table, "the table refuses what it must and allows the rest"),
               (files > 0 and not found, f"no wall is crossed ({files} files)")]
    for number, (ok, title) in enumerate(results, 1):
        print(f"{'ok' if ok else 'not ok'} {number} - {title}")
    print(f"1..{len(results)}")
    return 0 if all(ok for ok, _ in results) else 1


if __name__ == "__main__":
    sys.exit(main())
