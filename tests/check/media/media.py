#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Every stream of the collection through dxvadec and dxvaglupload, read back from GL.

decode: the md5 of every frame is the known one, once on the way that the rig takes by itself and once
copied. unsupported: right frames decoded in software, or an error that says why. robust: it ends.
Nothing crashes, nothing hangs.
"""

import hashlib
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

import manifest  # noqa: E402
from tap import Tap, skip_all  # noqa: E402

SECONDS = 300  # a stream that takes longer hangs: the longest takes 3
PARALLEL = os.cpu_count() or 1


@dataclass
class Run:
    status: int | None  # None: it hung
    hashes: list[str]
    error: str
    summary: dict  # dxva-play --json; empty when it ended before it

    @property
    def crashed(self) -> bool:
        return self.status is not None and self.status < 0

    def verdict(self) -> str:
        if self.status is None:
            return f"hung for {SECONDS} s"
        if self.crashed:
            when = "behind its report" if self.summary else f"after {len(self.hashes)} frames"
            return f"died of signal {-self.status}, {when}: {self.error}"
        return f"exit status {self.status}, {len(self.hashes)} frames; {self.error}"


def play(player: str, stream: manifest.Stream, *options: str) -> Run:
    with tempfile.NamedTemporaryFile(mode="r", suffix=".md5") as hashes:
        command = [player, "--json", "--sheet", "none", "--framemd5", hashes.name, *options,
                   str(stream.path)]
        try:
            done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, timeout=SECONDS)
        except subprocess.TimeoutExpired:
            return Run(None, [], "", {})
        error = done.stderr.decode(errors="replace").strip()
        return Run(done.returncode, hashes.read().split(), error, report(done.stdout))


def report(printed: bytes) -> dict:
    try:
        return json.loads(printed)
    except ValueError:
        return {}


def avdec_frames(stream: manifest.Stream) -> int:
    """How many frames GStreamer's own parser and libavcodec's decoder make of it."""
    parser, decoder = manifest.REFERENCE[stream.codec]
    command = ["gst-launch-1.0", "-v", "filesrc", f"location={stream.path}", "!", parser, "!",
               decoder, "!", "fakesink", "silent=false", "sync=false"]
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return 0
    return done.stdout.count(b"last-message = chain")


def gray_hashes(stream: manifest.Stream) -> list[str]:
    """Of a single picture in NV12 without colour. The collection's are turned as the Exif segment says, and
    its colours are what swscale left there: zeros."""
    luma = subprocess.run(["ffmpeg", "-nostdin", "-v", "error", "-noautorotate", "-i", str(stream.path),
                           "-pix_fmt", "gray", "-f", "rawvideo", "-"], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, timeout=SECONDS).stdout
    width, height = stream.size
    return [hashlib.md5(luma + b"\x80" * ((width + 1) // 2 * ((height + 1) // 2) * 2)).hexdigest()]


def unconverted_hashes(stream: manifest.Stream, pixel_format: str) -> list[str]:
    """Of the pictures as ffmpeg decodes them, with their range kept."""
    command = ["ffmpeg", "-nostdin", "-v", "error", "-i", str(stream.path), "-vf",
               f"scale=in_range=full:out_range=full,format={pixel_format}", "-fps_mode", "passthrough",
               "-f", "framemd5", "-"]
    lines = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True,
                           timeout=SECONDS).stdout.splitlines()
    return [line.rsplit(",", 1)[1].strip() for line in lines if line and not line.startswith("#")]


def difference(run: Run, stream: manifest.Stream) -> str:
    """Empty when the run's frames are the known ones."""
    if run.status != 0 or len(run.hashes) != len(stream.hashes):
        return f"{run.verdict()} (known: {len(stream.hashes)} frames)"
    known_hashes = stream.known
    if stream.codec == "jpeg" and stream.gray:
        known_hashes = gray_hashes(stream)
    elif stream.file in manifest.CONVERTED_LISTS:
        known_hashes = unconverted_hashes(stream, stream.pixel_format)
    elif stream.pixel_format == "gbrap":
        # JPEG's CMYK, of which libavcodec makes RGB and an alpha channel that hides nothing.
        known_hashes = unconverted_hashes(stream, "gbrp")
    wrong = [i for i, (ours, known) in enumerate(zip(run.hashes, known_hashes)) if ours != known]
    return f"{len(wrong)} of {len(stream.hashes)} frames differ, first {wrong[0]}" if wrong else ""


def detour(run: Run, stream: manifest.Stream) -> str:
    """Empty when every frame came on the best step that this rig has for the stream."""
    if run.status != 0 or os.environ.get("DXVA_RIG") != "memfd":
        return ""
    step = "egl" if stream.on_device else "software"
    frames = run.summary["steps"][step]
    # A surface that is shown again while downstream has it is copied.
    if stream.shows_again:
        frames += run.summary["reasons"].get("surface-in-use", 0)
    if frames == run.summary["frames"]:
        return ""
    return f"not every frame on {step}: {run.summary['steps']}, {run.summary['reasons']}"


def crowded(run: Run) -> bool:
    """Some frames were copied only because surfaces came back too late: what a loaded machine does to a sink
    that waits for each frame to be read back. The copy is right; whether there is a detour is then not seen."""
    return run.status == 0 and set(run.summary["reasons"]) <= {"surface-pool-empty", "surface-in-use"} and \
        run.summary["reasons"].get("surface-pool-empty", 0) > 0


def play_uncrowded(player: str, stream: manifest.Stream) -> Run:
    """As play(), again when the machine was too slow to see the way of each frame."""
    for _ in range(3):
        run = play(player, stream)
        if not crowded(run):
            break
    return run


def judge_decode(player: str, stream: manifest.Stream) -> list[tuple[str, str]]:
    if stream.file in manifest.REFUSED_BY_PARSER:
        run = play(player, stream)
        if not difference(run, stream):
            return [("", "right")]  # a newer parser takes it
        why = ""
        if run.status is None or run.crashed:
            why = run.verdict()
        elif avdec_frames(stream) == len(stream.hashes):
            why = "libavcodec's element gets all of its frames through the same parser: " + run.verdict()
        return [(why, f"refused for libavcodec's element as well ({manifest.REFUSED_BY_PARSER[stream.file]})")]
    run = play_uncrowded(player, stream)
    return [
        (difference(run, stream) or detour(run, stream), "right"),
        (difference(play(player, stream, "--import", "copy"), stream), "right when copied"),
    ]


def judge_unsupported(player: str, stream: manifest.Stream) -> list[tuple[str, str]]:
    run = play(player, stream)
    if run.status == 0:
        return [(difference(run, stream), "right, decoded in software")]
    clear = run.status is not None and not run.crashed and run.error.startswith("dxva-play: ")
    return [("" if clear else run.verdict(), "refused with an error")]


def judge_robust(player: str, stream: manifest.Stream) -> list[tuple[str, str]]:
    run = play(player, stream)
    bad = run.status is None or run.crashed
    return [(run.verdict() if bad else "", "ends")]


def judge(player: str, stream: manifest.Stream) -> list[tuple[str, str]]:
    if not stream.trusted:
        return judge_robust(player, stream)  # what its frames should be is disputed
    return {"decode": judge_decode, "unsupported": judge_unsupported,
            "robust": judge_robust}[stream.expect](player, stream)


def main() -> None:
    player = sys.argv[1]
    if not (manifest.folder() / "manifest.tsv").exists():
        skip_all(f"no collection of streams in {manifest.folder()} (DXVA_MEDIA names another folder)")
    streams = manifest.read_streams()
    tap = Tap()
    table: dict[str, Counter] = {}
    with ThreadPoolExecutor(PARALLEL) as pool:
        judged = pool.map(lambda stream: judge(player, stream), streams)
        for stream, cases in zip(streams, judged):
            counts = table.setdefault(f"{stream.codec} {stream.expect} {stream.pixel_format}", Counter())
            for why, what in cases:
                ok = tap.case(not why, f"{stream.file}: {what}", why)
                counts[what.split(" (")[0] if ok else "WRONG"] += 1
    for row, counts in sorted(table.items()):
        tap.note(f"{row}: " + ", ".join(f"{what} {count}" for what, count in sorted(counts.items())))
    tap.end()


if __name__ == "__main__":
    main()
