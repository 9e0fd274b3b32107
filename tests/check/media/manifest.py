# SPDX-License-Identifier: LGPL-2.1-or-later
"""The collection of streams beside the repository, and what is expected of each."""

import csv
import os
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]

# The codecs whose streams are tested: what surfaces the device has for them.
CODECS = {
    "h264": {"nv12"},
    "hevc": {"nv12", "p010le"},
    "vp8": {"nv12"},
    "vp9": {"nv12", "p010le"},
    "mpeg2": {"nv12"},
    "jpeg": {"nv12"},
    "av1": {"nv12", "p010le"},
}
# What is said to use tools beyond those of the profiles above.
SOFTWARE_PROFILES = {"Rext"}

# Their lists were made by converting full range to limited.
CONVERTED_LISTS = {
    "av1/dav1d-8bit-vq_suite-Syntax_AV1_mainb8ss420_432x240_003_vq_aom_ctest_4.2.stripped.ivf",
    "av1/dav1d-8bit-vq_suite-Syntax_AV1_mainb8ss420_432x240_012_vq_aom_ctest_4.2.stripped.ivf",
}

# Not for a device: libavcodec gives it several scans and runs out of room for them.
IN_SOFTWARE = {"jpeg/jpegdec-non-interleaved-mcu.jpg"}

# GStreamer's own chain for each codec.
REFERENCE = {
    "h264": ("h264parse", "avdec_h264"),
    "hevc": ("h265parse", "avdec_h265"),
    "vp8": ("identity", "avdec_vp8"),
    "vp9": ("vp9parse", "avdec_vp9"),
    "mpeg2": ("mpegvideoparse", "avdec_mpeg2video"),
    "jpeg": ("jpegparse", "avdec_mjpeg"),
    "av1": ("av1parse", "av1dec"),
}

# Files that the distribution's parser refuses before any decoder sees them: the reason. The test shows
# that libavcodec's element does not get their frames either, so an entry that is no longer true is noticed.
REFUSED_BY_PARSER = {
    "av1/dav1d-8bit-features-seq_hdr_op_param_info.ivf": "av1parse 1.22: Parse obu error",
    "av1/gst-av1c_two_entries.mp4": "qtdemux 1.22: a frame less",
    "h264/jvt-frext-FRExt2_Panasonic.avc": "h264parse 1.22: Invalid H.264 stream",
}


# Files that end within their last picture. What is shown in place of the rest is whatever its memory
# held: libavcodec itself differs with its number of threads.
CUT_OFF = {"hevc/gpac-counter.hvc"}


@dataclass(frozen=True)
class Stream:
    file: str
    codec: str
    profile: str
    expect: str  # decode, unsupported or robust
    pixel_format: str  # of its hashes
    trusted: bool
    gray: bool
    size: tuple[int, int]  # pixels; of the first picture
    shows_again: bool  # a picture that was shown before
    path: Path
    hashes: list[str]

    @property
    def on_device(self) -> bool:
        """The rig's device decodes it."""
        return self.pixel_format in CODECS[self.codec] and not self.gray and self.file not in IN_SOFTWARE and self.profile not in SOFTWARE_PROFILES

    @property
    def known(self) -> list[str]:
        """The hashes that have one right answer."""
        return self.hashes[:-1] if self.file in CUT_OFF else self.hashes


def folder() -> Path:
    return Path(os.environ.get("DXVA_MEDIA", ROOT.parent / "shared" / "media"))


def read_streams() -> list[Stream]:
    """The tested streams, in the manifest's order."""
    streams = []
    with open(folder() / "manifest.tsv", encoding="utf-8", newline="") as rows:
        for row in csv.DictReader(rows, delimiter="\t", quoting=csv.QUOTE_NONE):
            if row["codec"] not in CODECS:
                continue
            hashes = folder() / "frames" / (row["file"] + ".md5")
            streams.append(Stream(
                file=row["file"],
                codec=row["codec"],
                profile=row["profile"],
                expect=row["expect"].split(" ")[0].rstrip(":"),
                pixel_format=row["hash_pix_fmt"],
                trusted=row["trust"] != "disputed",
                size=tuple(int(side) for side in row["size"].split("x")),
                gray=row["native_pix_fmt"] == "gray",
                shows_again="show_existing" in row["features"],
                path=folder() / row["file"],
                hashes=hashes.read_text().split() if hashes.exists() else [],
            ))
    return streams
