# SPDX-License-Identifier: LGPL-2.1-or-later
"""The collection of streams beside the repository, and what is expected of each."""

import csv
import os
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]

# The codecs whose streams are tested.
CODECS = {"h264"}

# Files that the distribution's parser refuses before any decoder sees them: the reason. The test shows
# that avdec_h264 does not get their frames either, so an entry that is no longer true is noticed.
REFUSED_BY_PARSER = {
    "h264/jvt-frext-FRExt2_Panasonic.avc": "h264parse 1.22: Invalid H.264 stream",
}


@dataclass(frozen=True)
class Stream:
    file: str
    codec: str
    expect: str  # decode, unsupported or robust
    pixel_format: str  # of its hashes
    trusted: bool
    path: Path
    hashes: list[str]

    @property
    def eight_bit_420(self) -> bool:
        return self.pixel_format == "nv12"


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
                expect=row["expect"].split(" ")[0].rstrip(":"),
                pixel_format=row["hash_pix_fmt"],
                trusted=row["trust"] != "disputed",
                path=folder() / row["file"],
                hashes=hashes.read_text().split() if hashes.exists() else [],
            ))
    return streams
