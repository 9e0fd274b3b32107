#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Streams made now (tests/check/support/streams.py) through dxvadec and dxvaglupload: every frame that
comes back from GL equals libavcodec's software decode, on the rig's best step and copied."""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

import streams  # noqa: E402
from tap import Tap  # noqa: E402

SECONDS = 120  # a stream that takes longer hangs


def problem(player: str, media: Path, step: str | None, *options: str) -> str:
    """Empty when every frame is right and came on `step` (None: on any)."""
    try:
        done = subprocess.run([player, "--check", "--json", "--sheet", "none", *options, str(media)],
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              timeout=SECONDS, text=True, errors="replace")
    except subprocess.TimeoutExpired:
        return f"hung for {SECONDS} s"
    if done.returncode:
        return f"exit status {done.returncode}: {done.stdout}{done.stderr}"
    said = json.loads(done.stdout)
    if said.get("mismatches") != 0 or said["frames"] == 0:
        return f"{said.get('mismatches')} of {said['frames']} frames differ"
    # A surface that is shown again while downstream has it is copied.
    on_step = said["steps"].get(step, 0) + said["reasons"].get("surface-in-use", 0)
    if step and on_step != said["frames"]:
        return f"not every frame on {step}: {said['steps']}, {said['reasons']}"
    return ""


def descriptors(player: str, media: Path) -> int:
    """How many the player has open at the end of the stream; -1 when it fails."""
    done = subprocess.run([player, "--json", "--sheet", "none", str(media)], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=SECONDS)
    return json.loads(done.stdout)["descriptors"] if done.returncode == 0 else -1


def growth(player: str, media: Path) -> str:
    """Empty when a byte stream leaves as many descriptors open as the same one twice."""
    twice = media.with_name("twice-" + media.name)
    twice.write_bytes(media.read_bytes() * 2)
    once, more = descriptors(player, media), descriptors(player, twice)
    return "" if once == more > 0 else f"{once} descriptors at the end, {more} after twice as many changes"


def main() -> None:
    player = sys.argv[1]
    best = "egl" if os.environ.get("DXVA_RIG") == "memfd" else None
    tap = Tap()
    with tempfile.TemporaryDirectory() as folder:
        for recipe in streams.RECIPES:
            name = f"{recipe.codec}: {recipe.name}"
            try:
                media = recipe.make(Path(folder))
            except (subprocess.SubprocessError, OSError) as error:
                tap.skip(name, f"cannot be made: {str(error).splitlines()[0][:100]}")
                continue
            step = best if recipe.on_device else best and "software"
            why = problem(player, media, step)
            tap.case(not why, name, why)
            copied = "cpu-copy" if recipe.on_device else "software"
            why = problem(player, media, copied if best else None, "--import", "copy")
            tap.case(not why, f"{name}, copied", why)
            if recipe.parts:
                why = growth(player, media)
                tap.case(not why, f"{name}: leaves no descriptor behind", why)
    tap.end()


if __name__ == "__main__":
    main()
