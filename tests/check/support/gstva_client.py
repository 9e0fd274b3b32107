# SPDX-License-Identifier: LGPL-2.1-or-later
"""GStreamer's own VA elements on the software driver: a second client that knows the streams by parsers of its own."""

import json
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

SECONDS = 300  # a guard against hangs, no measure of speed

# What comes before the element, which is made of the codec's name.
PARSERS = {"h264": "h264parse", "hevc": "h265parse", "vp8": None, "vp9": "vp9parse", "mpeg2": "mpegvideoparse",
           "jpeg": "jpegparse", "av1": "av1parse"}
ELEMENTS = {codec: f"va{'h265' if codec == 'hevc' else codec}dec" for codec in PARSERS}
DEMUXERS = {".mkv": "matroskademux", ".webm": "matroskademux", ".mp4": "qtdemux", ".avi": "avidemux",
            ".ivf": "ivfparse", ".ts": "tsdemux", ".ps": "mpegpsdemux"}


def decoded(codec: str, media: Path) -> str:
    """The launch text of a file's pictures."""
    before = [DEMUXERS.get(media.suffix), PARSERS[codec]]
    return " ! ".join([f"filesrc location={media}", *[element for element in before if element], ELEMENTS[codec]])


@dataclass
class Frames:
    md5: list[str]  # of the pixels, without padding, in the format that was asked for
    error: str


class GstVa:
    """`folder` is for a registry of its own: which elements there are is kept in it, and GStreamer sees no reason
    to look again."""

    def __init__(self, shim: Path, drivers: Path, folder: Path) -> None:
        self.environment = {name: value for name, value in os.environ.items()
                            if not name.startswith(("DXVASOFT_", "LIBVA_"))}
        self.environment |= {"LD_PRELOAD": str(shim), "GST_REGISTRY": str(folder / "gstva.registry"),
                             "GST_VA_ALL_DRIVERS": "1", "LIBVA_DRIVERS_PATH": str(drivers), "GST_DEBUG": "0"}

    def _run(self, command: list[str], knobs: dict[str, str] | None = None) -> subprocess.CompletedProcess:
        return subprocess.run(command, env=self.environment | (knobs or {}), text=True, errors="replace",
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              timeout=SECONDS)

    def _has(self, name: str) -> bool:
        return self._run(["gst-inspect-1.0", name]).returncode == 0

    def lacks(self, codec: str) -> str | None:
        """What GStreamer's installation has not for the codec, or None. With its plugin there the element has to be."""
        if not self._has("va"):
            return "no plugin va"
        parser = PARSERS[codec]
        if parser and not self._has(parser):
            return f"no element {parser}"
        # The driver has it where the build has dav1d.
        if codec == "av1" and not self._has(ELEMENTS[codec]):
            return f"no element {ELEMENTS[codec]}"
        return None

    def decode(self, codec: str, media: Path, out: Path, pixel_format: str,
               knobs: dict[str, str] | None = None) -> subprocess.CompletedProcess:
        """All frames into `out`, plane after plane without padding. `pixel_format` is GStreamer's name; of NV12 and
        P010 the conversion moves samples only."""
        pipeline = [decoded(codec, media), "videoconvert dither=none", f"video/x-raw,format={pixel_format}",
                    f"videocodectestsink location={out}"]
        return self._run(["gst-launch-1.0", "-q", *" ! ".join(pipeline).split()], knobs)

    def frames(self, chain: Path, codec: str, media: Path, pixel_format: str,
               knobs: dict[str, str] | None = None) -> Frames:
        """Each frame's hash, by tests/check/support/chain.cpp. `pixel_format` is the surfaces' own."""
        run = self._run([str(chain), f"{decoded(codec, media)} ! video/x-raw,format={pixel_format} ! appsink name=out"],
                        knobs)
        if run.returncode not in (0, 1):
            return Frames([], f"exit status {run.returncode}: {run.stdout.strip()}")
        said = json.loads(run.stdout.splitlines()[-1])
        return Frames(said["frames"], said["error"])
