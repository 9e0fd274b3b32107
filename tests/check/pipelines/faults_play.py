# SPDX-License-Identifier: LGPL-2.1-or-later
"""One run of dxva-play on the bundled driver, and all that it, dxvadec and the driver said about it."""

import hashlib
import json
import os
import re
import resource
import subprocess
import tempfile
from collections import Counter
from pathlib import Path

FRAMES = 64
WIDTH, HEIGHT = 320, 240  # whole macroblocks and whole tiles: every layout can be tight
SECONDS = 120

PICTURE = re.compile(r"picture \d+: surface (0x[0-9a-f]+) (\S+) \((\S+)\)")


class Run:
    """What came of it. `pictures` has (surface, way it left, reason) for each picture in its order;
    surfaces are counted from 1 as the driver's fault plan does, 0 is none."""

    def __init__(self, status: int | None, out: str, err: str, folder: Path, wanted: list[str]) -> None:
        self.status, self.out, self.err, self.wanted = status, out, err, wanted
        try:
            said = json.loads(out)
        except json.JSONDecodeError:
            said = {}
        self.steps = {step: count for step, count in said.get("steps", {}).items() if count}
        self.reasons = said.get("reasons", {})
        self.path_changes = said.get("path-changes", [])
        self.descriptors = said.get("descriptors", 0)
        self.md5 = read(folder / "md5").split()
        # The driver's log: (call, surface, failed), and which surface has which id.
        self.calls, numbers = [], {"0x0": 0}
        for line in read(folder / "driver.log").splitlines():
            words = line.split()
            if words[0].startswith("surface="):
                numbers[words[1].removeprefix("id=")] = int(words[0].removeprefix("surface="))
                continue
            surface = [int(w.removeprefix("surface=")) for w in words if w.startswith("surface=")]
            self.calls.append((words[0], surface[0] if surface else 0, words[-1] == "failed"))
        self.pictures = [(numbers.get(surface, -1), way, reason)
                         for surface, way, reason in PICTURE.findall(read(folder / "dxvadec.log"))]
        self.ways = Counter(way for _, way, _ in self.pictures)
        self.whys = Counter(reason for _, _, reason in self.pictures if reason != "none")

    def wrong_pictures(self) -> str:
        """Why this is not the whole stream with every byte right and a clean end."""
        if self.status != 0:
            return f"exit status {self.status}"
        if "CRITICAL" in self.err:
            return "a critical warning"
        if len(self.md5) != len(self.wanted):
            return f"{len(self.md5)} of {len(self.wanted)} frames"
        different = [i for i in range(len(self.wanted)) if self.md5[i] != self.wanted[i]]
        return f"frames {different} differ" if different else ""

    def changes_of(self, element: str) -> list[str]:
        return [change for change in self.path_changes if change.startswith(element + ": ")]

    def count(self, call: str) -> int:
        return sum(1 for name, _, _ in self.calls if name == call)

    def __str__(self) -> str:
        pictures = " ".join(f"{surface}:{way}:{reason}" for surface, way, reason in self.pictures)
        return f"exit status {self.status}\n{self.out}\n{self.err}\n{pictures}"


def read(file: Path) -> str:
    return file.read_text(errors="replace") if file.exists() else ""


FFMPEG = ["ffmpeg", "-nostdin", "-v", "error", "-y"]

# What the encoder is told, and the format of the pictures as dxva-play writes them.
H264 = (["-pix_fmt", "yuv420p", "-c:v", "libx264", "-threads", "1", "-preset", "veryfast", "-crf", "26",
         "-bf", "2", "-g", "32"], "nv12")
HEVC_10 = (["-pix_fmt", "yuv420p10le", "-c:v", "libx265", "-preset", "ultrafast", "-crf", "26",
            "-x265-params", "keyint=32:bframes=2:pools=1:frame-threads=1:log-level=error"], "p010le")


class Clip:
    """A small clip with B-frames, and what FFmpeg's software decoder makes of it. `sizes` is for byte
    streams, which go on in another one."""

    def __init__(self, folder: Path, player: str, name: str = "clip.mp4", kind=H264,
                 sizes=((WIDTH, HEIGHT),), frames: int = FRAMES) -> None:
        self.folder, self.player, self.frames = folder, player, frames * len(sizes)
        self.file = folder / name
        self.raw = self.file.with_suffix(f".{kind[1]}")
        self.md5, streams, pictures = [], [], []
        for width, height in sizes:
            part = folder / f"{width}x{height}-{name}"
            subprocess.run(FFMPEG + ["-f", "lavfi", "-i", f"testsrc2=size={width}x{height}:rate=30",
                                     "-vf", "noise=alls=12:allf=t", "-frames:v", str(frames),
                                     *kind[0], str(part)], check=True)
            raw = subprocess.run(FFMPEG + ["-i", str(part), "-fps_mode", "passthrough", "-pix_fmt",
                                           kind[1], "-f", "rawvideo", "-"],
                                 check=True, stdout=subprocess.PIPE).stdout
            size = len(raw) // frames
            self.md5 += [hashlib.md5(raw[at:at + size]).hexdigest() for at in range(0, len(raw), size)]
            streams.append(part.read_bytes())
            pictures.append(raw)
        self.file.write_bytes(b"".join(streams))
        self.raw.write_bytes(b"".join(pictures))

    def play(self, *options: str, environment: dict[str, str] | None = None, descriptors: int = 0) -> Run:
        """`descriptors` limits how many the process may have open."""
        folder = Path(tempfile.mkdtemp(dir=self.folder))
        variables = dict(os.environ, GST_DXVA_DEVICE="software", GST_DXVA_TEST="memfd,software-import,verify",
                         GST_DEBUG="dxvadec:6", GST_DEBUG_FILE=str(folder / "dxvadec.log"),
                         GST_DEBUG_NO_COLOR="1", DXVASOFT_LOG=str(folder / "driver.log"))
        variables.update(environment or {})

        def limit() -> None:
            resource.setrlimit(resource.RLIMIT_NOFILE, (descriptors, descriptors))

        try:
            done = subprocess.run([self.player, "--sheet", "none", "--json", "--framemd5",
                                   str(folder / "md5"), *options, str(self.file)],
                                  stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                  text=True, errors="replace", timeout=SECONDS, env=variables,
                                  preexec_fn=limit if descriptors else None)
        except subprocess.TimeoutExpired as late:
            return Run(None, str(late.stdout), str(late.stderr), folder, self.md5)
        return Run(done.returncode, done.stdout, done.stderr, folder, self.md5)
