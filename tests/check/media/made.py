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
    """Empty when every frame is right and came on `step` (None: on any). Where surfaces only came back too late,
    as on a loaded machine, it is played again: the copies are right, and the way of the frames is not seen."""
    for _ in range(3):
        why = problem_once(player, media, step, *options)
        if "surface-pool-empty" not in why:
            break
    return why


def problem_once(player: str, media: Path, step: str | None, *options: str) -> str:
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


def growth(player: str, media: Path, changes: int) -> str:
    """Empty when playing a stream four times leaves no more descriptors open than twice. The first time fills
    pools and caches; and what is in use at the end differs by a few, so that less than one for each change is
    no leak."""
    counts = []
    for times in (2, 4):
        longer = media.with_name(f"{times}-{media.name}")
        longer.write_bytes(streams.joined([media] * times))
        counts.append(descriptors(player, longer))
    if 0 < counts[0] and 0 < counts[1] < counts[0] + changes:
        return ""
    return f"{counts[0]} descriptors after twice, {counts[1]} after four times as many changes"


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
            step = None if recipe.on_device is None else best if recipe.on_device else best and "software"
            why = problem(player, media, step)
            tap.case(not why, name, why)
            copied = step and ("cpu-copy" if recipe.on_device else "software")
            why = problem(player, media, copied, "--import", "copy")
            tap.case(not why, f"{name}, copied", why)
            if recipe.parts:
                why = growth(player, media, len(recipe.parts))
                tap.case(not why, f"{name}: leaves no descriptor behind", why)
    tap.end()


if __name__ == "__main__":
    main()
