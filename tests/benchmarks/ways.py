# SPDX-License-Identifier: LGPL-2.1-or-later
"""Ways of doing the same thing, ours and other people's, and how they are run beside each other."""

import json
import os
import statistics
import subprocess
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

import progress
from plan import Plan

SECONDS = 600  # a guard against hangs, no measure of speed


class Failed(Exception):
    """A way that does not work here, with what it said."""


def cpu_seconds(command: list[str], environment: dict[str, str]) -> float:
    """user + system seconds of one run, of that process alone."""
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                               env=environment)
    errors = process.stderr.read().decode(errors="replace")
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise Failed(f"{' '.join(command)} ended with {process.returncode}: {errors.strip()}")
    return usage.ru_utime + usage.ru_stime


@dataclass(frozen=True, eq=False)
class Way:
    """A pipeline for bench-player, which puts `fakesink name=out` behind it. `watch` names the element from which on
    the frame's way to the sink is timed by itself."""

    name: str
    pipeline: str
    environment: dict[str, str] = field(default_factory=dict)
    watch: str = ""
    map_in_gl: bool = False
    map_stand_in: bool = False  # where the frames are not in OpenGL: as if they were
    feed: str = ""  # caps of pictures that appear from nowhere; the pipeline begins behind them

    def command(self, plan: Plan, warm_up: int, frames: int, streams: int = 1) -> list[str]:
        line = f"{self.pipeline} ! fakesink name=out sync=false async=false"
        if self.feed:
            line = f"appsrc name=feed ! {line}"
        command = [str(plan.build / "tests/benchmarks/bench-player"), "--warm-up", str(warm_up), "--frames",
                   str(frames), "--streams", str(streams), "--started", str(time.monotonic_ns())]
        if self.watch:
            command += ["--watch", self.watch]
        if self.feed:
            command += ["--feed", self.feed]
        if self.map_in_gl:
            command += ["--map-in-gl"]
        if self.map_stand_in:
            command += ["--map-stand-in"]
        return [*command, line]

    def run(self, plan: Plan, warm_up: int, frames: int, streams: int = 1, **environment: str) -> dict:
        """One run's JSON."""
        done = subprocess.run(self.command(plan, warm_up, frames, streams), stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, errors="replace", timeout=SECONDS,
                              env=os.environ | self.environment | environment)
        if done.returncode:
            raise Failed(f"{self.name} ended with {done.returncode}: {done.stderr.strip()}")
        return json.loads(done.stdout)


@dataclass(frozen=True, eq=False)
class Program:
    """Somebody's whole program. Nobody can look into it, so two runs of different lengths are compared: what is left is
    what the frames cost, and its start is not."""

    name: str
    line: list[str]
    limit: str = "-frames:v"  # the option that says how many frames
    environment: dict[str, str] = field(default_factory=dict)

    def command(self, plan: Plan, warm_up: int, frames: int, streams: int = 1) -> list[str]:
        end = self.line.index("-f")
        return [*self.line[:end], self.limit, str(frames), *self.line[end:]]

    def run(self, plan: Plan, warm_up: int, frames: int, streams: int = 1, **environment: str) -> dict:
        of = [cpu_seconds(self.command(plan, 0, count), os.environ | self.environment | environment)
              for count in (warm_up, frames)]
        return {"frames": frames - warm_up, "cpu_ns": int((of[1] - of[0]) * 1e9)}


def cpu_ms(run: dict) -> float:
    """Of the whole process, per frame."""
    return run["cpu_ns"] / run["frames"] / 1e6


def behind_ms(run: dict) -> float:
    """From the watched element on, per frame: on the streaming thread, and all of what other threads do. Decoding is
    the streaming thread's alone with the drivers that are measured here; bench-player's own thread looks for errors."""
    others = run["cpu_ns"] - run["streaming_ns"] - run["threads"]["main"]
    return (run["watched_ns"] + others) / run["frames"] / 1e6


@dataclass
class Runs:
    """What each way's rounds gave, by its name. A way that failed is in `failed`."""

    of: dict[str, list[dict]]
    failed: dict[str, str]

    def median(self, name: str, value=cpu_ms) -> float | None:
        return statistics.median(map(value, self.of[name])) if self.of.get(name) else None

    def ratio(self, ours: str, theirs: str, value=cpu_ms) -> float | None:
        """The median of the rounds' ratios: a slow moment of the machine meets both."""
        pairs = list(zip(self.of.get(ours, []), self.of.get(theirs, [])))
        return statistics.median(value(a) / value(b) for a, b in pairs) if pairs else None

    def middle_half(self, ours: str, theirs: str, value=cpu_ms) -> str:
        """The quartiles of the rounds' ratios: how far a single one is to be trusted."""
        ratios = [value(a) / value(b) for a, b in zip(self.of.get(ours, []), self.of.get(theirs, []))]
        if len(ratios) < 4:
            return f"only {len(ratios)} rounds"
        low, _, high = statistics.quantiles(ratios, n=4)
        return f"half of {len(ratios)} rounds between {low:.3f} and {high:.3f}"

    def added(self, name: str, base: str, value=cpu_ms) -> float | None:
        """The median of the rounds' differences, in ms per frame."""
        pairs = list(zip(self.of.get(name, []), self.of.get(base, [])))
        return statistics.median(value(a) - value(b) for a, b in pairs) if pairs else None

    def spread(self, name: str, base: str) -> str:
        """How far apart the rounds' differences are: without the lowest quarter and the highest."""
        differences = [cpu_ms(a) - cpu_ms(b) for a, b in zip(self.of.get(name, []), self.of.get(base, []))]
        if len(differences) < 2:
            return "in one round"
        low, _, high = statistics.quantiles(differences, n=4, method="inclusive")
        return f"{low:.2f} to {high:.2f} in the middle half of {len(differences)} rounds"


def in_turns(plan: Plan, ways: list, warm_up: int, frames: int, title: str, streams: int = 1,
             rounds: int | None = None) -> Runs:
    """Every way once in each round, the first one another in each."""
    runs = Runs({way.name: [] for way in ways}, {})
    progress.tell(f"{title}: each way once, for a few frames")
    for way in ways:  # files and code come into memory; what does not work here is known then
        progress.glance(f"{title}: {way.name}")
        try:
            way.run(plan, min(warm_up, 5), min(frames, 10), streams)
        except Failed as failure:
            runs.failed[way.name] = str(failure)
    count = rounds or plan.rounds
    for number in range(count):
        progress.tell(f"{title}: round {number + 1} of {count}")
        turn = number % len(ways)
        for way in ways[turn:] + ways[:turn]:
            if way.name in runs.failed:
                continue
            progress.glance(f"{title}: round {number + 1} of {count}, {way.name}")
            try:
                runs.of[way.name].append(way.run(plan, warm_up, frames, streams))
            except Failed as failure:
                runs.failed[way.name] = str(failure)
                runs.of[way.name].clear()  # rounds are compared with each other
    return runs


# --- from outside


def outside_library(plan: Plan, way) -> str:
    """What to preload so that a way is counted. Its own library comes first: what that looks up with RTLD_NEXT is
    found behind it."""
    library = str(plan.build / "tests/benchmarks/libbench_counts.so")
    return " ".join(filter(None, [way.environment.get("LD_PRELOAD"), library]))


def outside_counts(plan: Plan, ways: list, runs: Runs, frame_bytes: int, warm_up: int,
                   title: str) -> dict[str, dict[str, float | None]]:
    """What each frame makes the process ask its libraries and the kernel for, of the ways that have not failed."""
    counts = {}
    frames = warm_up + plan.counted
    progress.tell(f"{title}: counted from outside")
    for way in ways:
        if way.name in runs.failed:
            continue
        progress.glance(f"{title}: counted from outside, {way.name}")
        try:
            counts[way.name] = _counted(plan, way, frame_bytes, warm_up, frames)
        except Failed as failure:
            runs.failed[way.name] = f"counted from outside: {failure}"
    return counts


def _counted(plan: Plan, way, frame_bytes: int, warm_up: int, frames: int) -> dict[str, float | None]:
    preload = {"LD_PRELOAD": outside_library(plan, way)}
    if isinstance(way, Way):
        counts = way.run(plan, warm_up, frames, **preload)["counts"]
    else:
        of = []
        for count in (warm_up, frames):
            with tempfile.NamedTemporaryFile() as file:
                cpu_seconds(way.command(plan, 0, count),
                            os.environ | way.environment | preload | {"DXVA_BENCH_COUNTS": file.name})
                of.append(json.loads(Path(file.name).read_text(encoding="utf-8")))
        counts = {name: of[1][name] - of[0][name] for name in of[0]}
    per_frame = {name: count / (frames - warm_up) for name, count in counts.items()}
    return {
        "copies": per_frame["copied_bytes"] / frame_bytes,
        "copies by GL": per_frame["renderer_bytes"] / frame_bytes,
        "textures": per_frame["textures"],
        "images": per_frame["images"],
        "buffers": per_frame["buffers"],
        "mallocs": per_frame["large_mallocs"],
        "KiB by GL": per_frame["renderer_malloc_bytes"] / 1024,
        "mmaps": per_frame["memory_maps"],
        "fds": per_frame["descriptors"],
        "syscalls": system_calls(plan, way, warm_up, frames) if plan.traced else None,
    }


def system_calls(plan: Plan, way, warm_up: int, frames: int) -> float | None:
    """Per frame, by strace, from two runs of different lengths. None where it cannot be had."""
    def count(length: int) -> int | None:
        with tempfile.NamedTemporaryFile() as file:
            try:
                # The way's variables are not strace's: one of them may preload a library.
                variables = [f"--env={name}={value}" for name, value in way.environment.items()]
                done = subprocess.run(["strace", "-f", "-c", "-U", "calls", "-o", file.name, *variables,
                                       *way.command(plan, 0, length)], stdin=subprocess.DEVNULL,
                                      stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=SECONDS)
            except FileNotFoundError:
                return None
            table = Path(file.name).read_text(encoding="utf-8").split()
            # The last line is the sum.
            return int(table[-2]) if done.returncode == 0 and table[-1:] == ["total"] else None

    few, many = count(warm_up), count(frames)
    return None if few is None or many is None else (many - few) / (frames - warm_up)
