#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The collection's streams through GStreamer's own VA elements on the software driver: it is right for clients whose
parsers and books of references are not libavcodec's. Every frame is the known one, and what they tell the driver of
each picture is what libavcodec's client tells it, but for what va_parameters.py lists. TAP on stdout."""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

CHECK = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(CHECK / "support"), str(CHECK / "softva")]

import clients  # noqa: E402
import manifest  # noqa: E402
import va_parameters  # noqa: E402
from gstva_client import PARSERS, SECONDS, GstVa  # noqa: E402
from media import unconverted_hashes  # noqa: E402
from tap import Tap, skip_all  # noqa: E402

FORMATS = {"nv12": "NV12", "p010le": "P010_10LE"}
HUNG = f"no end after {SECONDS} s"

# Streams that gst-va does not play as they should be, and why. Where another version does, they count as right.
GSTVAS_OWN = {
    **manifest.REFUSED_BY_PARSER,
    "av1/media3-hdr10-av1.mp4": "1.22: update_map is another frame's, where segments are",
    "h264/openh264-BA_MW_D_IDR_LOST.264": "starts without its IDR picture: shows the frames before the next one, too",
    "hevc/h265nal-akiyo.kvazaar.qp_30.265": "refers to more than sps_max_dec_pic_buffering: no such slice is taken",
    "hevc/h265nal-akiyo.kvazaar.qp_50.265": "refers to more than sps_max_dec_pic_buffering: no such slice is taken",
    "vp8/vp80-03-segmentation-1436.ivf": "1.22 aborts where the size changes",
}

# Streams of which the two say other things for a reason of their own, or which one does not play to its end.
NOT_COMPARED = {
    **{file: "ffmpeg 7.1 has no filters for the number of its colours" for file in manifest.CONVERTED_LISTS},
    "h264/openh264-BA_MW_D_P_LOST.264": "a picture is lost: libavcodec repeats the one before, gst-va has none",
    "h264/mp4ff-4pics.264": "ends with a start code of nothing, which gst-va takes for a part of the slice",
}

COMPARED = 12e6  # pixels of a stream: longer ones would say nothing more


def pixels(stream: manifest.Stream) -> int:
    """Of all frames, if they have the first one's size."""
    return stream.size[0] * stream.size[1] * len(stream.hashes)


def playable() -> list[manifest.Stream]:
    """What has right frames, on surfaces."""
    return [stream for stream in manifest.read_streams()
            if stream.expect == "decode" and stream.trusted and stream.on_device]


def difference(stream: manifest.Stream, got: list[str]) -> str:
    """Empty when the frames' hashes are the known ones."""
    known = unconverted_hashes(stream, stream.pixel_format) if stream.file in manifest.CONVERTED_LISTS else stream.known
    if got[:len(known)] == known and len(got) == len(stream.hashes):
        return ""
    wrong = [i for i, (ours, right) in enumerate(zip(got, known)) if ours != right]
    return (f"{len(got)} frames of {len(stream.hashes)}, {len(wrong)} wrong"
            f"{f', the first {wrong[0]}' if wrong else ''}")


@dataclass(frozen=True)
class Verdict:
    frames: str = ""  # empty: right, or the same
    parameters: str = ""


@dataclass(frozen=True)
class Players:
    gstva: GstVa
    chain: Path
    ffmpeg: clients.Clients | None  # None: whose differences nobody has explained
    folder: Path

    def judge(self, stream: manifest.Stream) -> Verdict:
        told = self.folder / stream.file.replace("/", "-")
        compared = self.ffmpeg and pixels(stream) <= COMPARED
        try:
            got = self.gstva.frames(self.chain, stream.codec, stream.path, FORMATS[stream.pixel_format],
                                    {"DXVASOFT_PARAMETERS": str(told)} if compared else None)
            wrong = difference(stream, got.md5)
            if wrong or not compared or stream.file in NOT_COMPARED:
                return Verdict(f"{wrong}; {got.error}" if wrong else "")
            return Verdict(parameters=va_parameters.problem(
                self.ffmpeg, stream.codec, stream.path, stream.pixel_format, clients.DECODERS.get(stream.codec),
                self.folder, told))
        except subprocess.TimeoutExpired:
            return Verdict(HUNG)
        finally:
            told.unlink(missing_ok=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--drivers", required=True, type=Path, help="folder of dxvasoft_drv_video.so")
    parser.add_argument("--shim", required=True, type=Path, help="libgstva_shim.so")
    parser.add_argument("--chain", required=True, type=Path, help="the program chain")
    arguments = parser.parse_args()
    if not (manifest.folder() / "manifest.tsv").exists():
        skip_all(f"no collection of streams in {manifest.folder()} (DXVA_MEDIA names another folder)")
    for program in ("ffmpeg", "Xvfb"):
        if not shutil.which(program):
            skip_all(f"no program {program}")
    tap = Tap()
    with clients.Xvfb() as display, tempfile.TemporaryDirectory() as name, ThreadPoolExecutor(os.cpu_count()) as pool:
        other = va_parameters.unknown_version()
        players = Players(GstVa(arguments.shim.resolve(), arguments.drivers.resolve(), Path(name)),
                          arguments.chain.resolve(),
                          None if other else clients.Clients(display, arguments.drivers.resolve()), Path(name))
        lacking = {codec: players.gstva.lacks(codec) for codec in PARSERS}
        # The longest first: no core is left alone with one at the end.
        streams = sorted((s for s in playable() if not lacking[s.codec]), key=pixels, reverse=True)
        for stream, verdict in zip(streams, pool.map(players.judge, streams)):
            title = f"gst-va: {stream.file}"
            if verdict.frames and verdict.frames != HUNG and stream.file in GSTVAS_OWN:
                tap.skip(title, f"{GSTVAS_OWN[stream.file]} ({verdict.frames.splitlines()[0]})")
            else:
                tap.case(not verdict.frames, title, verdict.frames)
            if stream.file in NOT_COMPARED:
                tap.skip(f"{title}: parameters as libavcodec's", NOT_COMPARED[stream.file])
            elif not other and pixels(stream) <= COMPARED and not verdict.frames:
                tap.case(not verdict.parameters, f"{title}: parameters as libavcodec's", verdict.parameters)
        for codec, lack in lacking.items():
            if lack:
                tap.skip(f"gst-va: {codec}", lack)
        if other:
            tap.skip("gst-va: parameters as libavcodec's", other)
    tap.end()


if __name__ == "__main__":
    main()
