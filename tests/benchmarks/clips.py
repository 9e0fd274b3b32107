# SPDX-License-Identifier: LGPL-2.1-or-later
"""Clips that the benchmarks play, made by ffmpeg when they are first wanted."""

import subprocess
from pathlib import Path

import progress
from plan import Plan

BEHIND_THE_WINDOW = 16  # frames: a decoder holds some back
BITS_PER_PIXEL = 0.13  # 8 Mbit/s at 1080p and 30 frames a second


def h264(plan: Plan, size: str) -> Path:
    """A test pattern with noise and B-frames, as long as the plan's window for that size."""
    width, height = plan.size(size)
    frames = plan.window(size)[1] + BEHIND_THE_WINDOW
    clip = plan.folder / f"h264-{width}x{height}-{frames}.mp4"
    if not clip.exists():
        progress.tell(f"a clip of {frames} pictures, {width}x{height}, is made for now and later")
        plan.folder.mkdir(parents=True, exist_ok=True)
        part = clip.with_suffix(".part")
        subprocess.run(["ffmpeg", "-nostdin", "-v", "error", "-y", "-f", "lavfi", "-i",
                        f"testsrc2=size={width}x{height}:rate=30,noise=alls=6:allf=t",
                        "-frames:v", str(frames), "-pix_fmt", "yuv420p", "-c:v", "libx264", "-preset", "veryfast",
                        "-b:v", str(int(width * height * 30 * BITS_PER_PIXEL)), "-g", "60", "-bf", "3",
                        "-f", "mp4", str(part)], check=True, stdin=subprocess.DEVNULL)
        part.rename(clip)
    return clip
