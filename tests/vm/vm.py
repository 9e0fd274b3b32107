#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The suite "vm": Debian 13 beside this machine's own system.

First the tree is compiled there and its ordinary tests run at full speed (GStreamer 1.26, libva 2.22, Mesa 25);
then the same build boots in a virtual machine whose kernel makes real dma-bufs.
docs/design/rigs.md says what each rig can show.
"""

import argparse
import contextlib
import json
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
PROJECT = HERE.parents[1]
sys.path[:0] = [str(HERE), str(HERE.parent / "runner"), str(HERE.parent / "check" / "media")]

import boot  # noqa: E402
import manifest  # noqa: E402
import root as debian  # noqa: E402
from counts import Counts, Failure, count_program  # noqa: E402

# Of pipelines what differs: playbin3 of GStreamer 1.26 tries decoders in another way than that of 1.22.
NATIVE_SUITES = ["unit", "softva", "elements", "pipelines/containers", "media/gstva_rows"]
DEVICES = ["virtio-gpu-pci"]  # a second DRM device; the guest loads its driver when it wants it
BOOTS = 2


def say(text: str) -> None:
    print(f"# {text}\n", end="", flush=True)  # one write: two threads talk


def collection() -> Path | None:
    """The folder of streams beside the repository."""
    folder = manifest.folder().resolve()
    return folder if (folder / "manifest.tsv").is_file() else None


def in_root(where: debian.Root, build: Path, log: Path, *command: str) -> int:
    ccache = where.folder.parent / "ccache"
    ccache.mkdir(exist_ok=True)
    media = collection()
    enter = ["bash", str(HERE / "enter.sh"), *(["--media", str(media)] if media else []), str(where.folder),
             str(PROJECT), str(build), str(ccache), *command]
    with log.open("wb") as output:
        return subprocess.run(debian.in_private_namespaces(enter), stdin=subprocess.DEVNULL, stdout=output,
                              stderr=subprocess.STDOUT).returncode


def compile_there(where: debian.Root, build: Path, name: str, *options: str) -> str:
    """What went wrong, or nothing. `options` are meson's, at the first time."""
    log = build.with_name("compile.log")
    say(f"compiling on {name} (log: {log})")
    started = time.monotonic()
    if in_root(where, build, log, "bash", "/project/tests/vm/guest/compile.sh", *options):
        return log.read_text(errors="replace")
    say(f"compiled in {time.monotonic() - started:.0f} s")
    return ""


def run_natively(where: debian.Root, build: Path, suites: list[str], name: str = "trixie") -> Counts:
    """The ordinary suites on that system's libraries; no DRM node, memfds stand in."""
    say(f"in the root {where.folder.name}, without a virtual machine: {' '.join(suites)}")
    started = time.monotonic()
    result = build / "native.json"
    result.unlink(missing_ok=True)
    status = in_root(where, build, build.with_name("native.log"), "bash", "/project/tests/vm/guest/native.sh", *suites)
    counts = Counts()
    if not result.exists():
        counts.fail(name, f"the suites ended with {status} and left no counts")
        return counts
    found = json.loads(result.read_text())
    counts.passed = found["passed"]
    say(f"{' '.join(suites)}: {counts.passed} passed, {len(found['failures'])} failed, {len(found['skips'])} skipped "
        f"({time.monotonic() - started:.0f} s)")
    counts.skips = [f"{name}: {skip}" for skip in found["skips"]]
    counts.failures = [Failure(f"{name}: {failure['name']}", failure["tail"]) for failure in found["failures"]]
    return counts


class Sections:
    """Cuts what the guest prints into programs and counts the cases of each."""

    def __init__(self) -> None:
        self.counts = Counts()
        self.finished = False
        self._name = ""
        self._lines: list[str] = []
        self._started = 0.0

    def take(self, line: str) -> None:
        words = line.split()
        if words[:2] == ["===", "begin"]:
            self._name, self._lines, self._started = words[2], [], time.monotonic()
        elif words[:2] == ["===", "end"]:
            self._close(int(words[3]))
        elif line == boot.DONE:
            self.finished = True
        else:
            self._lines.append(line)

    def _close(self, status: int) -> None:
        verdict = {0: "OK", 77: "SKIP", 124: "TIMEOUT", 137: "TIMEOUT"}.get(status, "FAIL")
        counts = count_program(self._name, verdict, status, "\n".join(self._lines))
        say(f"{self._name}: {counts} ({time.monotonic() - self._started:.0f} s)")
        self.counts.add(counts)
        self._name = ""

    def end(self, console: Path) -> None:
        if self.finished:
            return
        where = f"in {self._name}" if self._name else "between two programs"
        self.counts.fail(f"the virtual machine stopped {where}",
                         "\n".join([*self._lines[-25:], boot.panicked(console) or "no word from its kernel"]))


def run_in_machine(where: debian.Root, build: Path, words: list[str] | None = None, verbose: bool = False) -> Counts:
    console = build.with_name("console.log")
    arguments = debian.tied_to_us(boot.command(where.folder, PROJECT, build, collection(), console, DEVICES,
                                                  words or []))
    for attempt in range(1, BOOTS + 1):
        say("booting the virtual machine")
        started = time.monotonic()
        sections = Sections()
        try:
            for line in boot.lines(arguments, console, boot.Limits()):
                if verbose:
                    print(f"    {line}", flush=True)
                sections.take(line)
        except boot.BootFailed as failure:
            say(f"boot {attempt} failed after {time.monotonic() - started:.0f} s")
            sections.counts.fail("the virtual machine does not boot", str(failure))
            if attempt < BOOTS:
                continue
            return sections.counts
        sections.end(console)
        say(f"the virtual machine ran {time.monotonic() - started:.0f} s")
        return sections.counts
    raise AssertionError("unreachable")


def run(build: Path, words: list[str] | None = None, native: list[str] | None = None, verbose: bool = False) -> Counts:
    """`build` is the native build folder; in build/dev/trixie are this rig's logs and its own build folder."""
    counts = Counts()
    try:
        debian.require(boot.QEMU)
        where = debian.get(debian.trixie())
    except debian.Unavailable as reason:
        counts.skips.append(f"vm: {reason}")
        return counts
    folder = build.resolve() / "dev" / "trixie" / "build"
    folder.mkdir(parents=True, exist_ok=True)
    with contextlib.closing(debian.Lock(folder.with_name("lock"))) as lock:
        if not lock.try_to_own():
            say("another run in this tree has the rig: waiting for it")
            lock.own()
        # Warnings are errors: the compiler is always the same one.
        problem = compile_there(where, folder, "Debian 13", "--werror")
        if problem:
            counts.fail("the tree does not compile on Debian 13", problem)
            return counts
        suites = NATIVE_SUITES if native is None else native
        # Side by side: what the machine runs has one thread for the most part.
        with ThreadPoolExecutor() as beside:
            natively = beside.submit(run_natively, where, folder, suites) if suites else None
            machine = run_in_machine(where, folder, words, verbose)
            if natively:
                counts.add(natively.result())
        counts.add(machine)
    return counts


def main() -> int:
    parser = argparse.ArgumentParser(description="The suite vm by itself, for those who work on it.")
    parser.add_argument("--build", type=Path, default=PROJECT / "build")
    parser.add_argument("--only", default="", metavar="REGEX", help="programs in the machine whose name matches")
    parser.add_argument("--script", default="", metavar="FILE",
                        help="a file in build/dev/trixie/build to run in the machine instead of the suite")
    parser.add_argument("--native", nargs="*", default=None, metavar="SUITE",
                        help="suites to run without the machine, or SUITE/PROGRAM")
    parser.add_argument("--verbose", action="store_true", help="show what the programs in the machine print")
    arguments = parser.parse_args()
    asked = {"only": arguments.only, "script": arguments.script}
    words = [f"dxva.{name}={value}" for name, value in asked.items() if value]
    counts = run(arguments.build, words, arguments.native, arguments.verbose)
    for failure in counts.failures:
        print(f"FAILED: {failure.name}\n{failure.tail}")
    for skip in counts.skips:
        print(f"skipped: {skip}")
    print(counts)
    return 1 if counts.failed else 0


if __name__ == "__main__":
    sys.exit(main())
