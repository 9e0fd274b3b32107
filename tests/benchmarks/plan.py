# SPDX-License-Identifier: LGPL-2.1-or-later
"""How much a run of the benchmarks does: --quick is for machines that check changes, tiny for the test that nothing
has rotted."""

from dataclasses import dataclass
from pathlib import Path

SIZES = {"352p": (640, 352), "720p": (1280, 720), "1080p": (1920, 1080), "2160p": (3840, 2160)}


@dataclass(frozen=True)
class Plan:
    build: Path
    rounds: int = 7
    scale: float = 1.0  # of the numbers of frames
    shrink: int = 1  # of both sides of each picture
    streams: tuple[int, ...] = (1, 2, 4, 8, 16)
    sizes: tuple[str, ...] = ("1080p", "2160p")
    counted: int = 40  # frames, where things are counted that each frame has, and nothing is timed
    traced: bool = True  # counts of system calls, for which everything runs twice under strace

    @staticmethod
    def quick(build: Path) -> "Plan":
        return Plan(build, rounds=3, scale=0.5, streams=(1, 4, 16), counted=20, traced=False)

    @staticmethod
    def tiny(build: Path) -> "Plan":
        return Plan(build, rounds=1, scale=0.1, shrink=6, streams=(1, 2), counted=20)

    @property
    def folder(self) -> Path:
        """For clips, registries and plots. Clips of different sizes have different names."""
        return self.build / "bench"

    def size(self, name: str) -> tuple[int, int]:
        width, height = SIZES[name]
        return width // self.shrink // 2 * 2, height // self.shrink // 2 * 2

    def window(self, name: str) -> tuple[int, int]:
        """Frames of the warm-up, and of all with it. What is measured on the way (dxvadec's ways of reading a surface,
        dxvaglupload's of uploading) has come to its end after 40."""
        measured = {"2160p": 80, "1080p": 240}.get(name, 240)
        warm_up = 50 if self.scale >= 0.5 else 10
        return warm_up, warm_up + max(20, int(measured * self.scale))
