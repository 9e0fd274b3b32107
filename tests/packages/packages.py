#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The suite "packages": the Debian packages, built on Debian 12 and 13, and tried by somebody who has just installed
Debian and does what the documentation says. The suite "debian-testing": does the tree compile on the next Debian,
and are its units right there. docs/design/rigs.md says what each can show."""

import argparse
import contextlib
import json
import re
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
PROJECT = HERE.parents[1]
sys.path[:0] = [str(PROJECT / "tests" / folder) for folder in ("vm", "runner", "check/support")]

import root as debian  # noqa: E402
import screen  # noqa: E402
import vm  # noqa: E402
import x_server  # noqa: E402
from counts import Counts  # noqa: E402

RELEASES = {"bookworm": "Debian 12", "trixie": "Debian 13"}
OURS = {"gstreamer1.0-dxva", "gstreamer1.0-dxva-gl", "dxva-softva-driver", "dxva-doctor"}
# Not what the packages need but what this test does: an X server, a camera in front of it, a player.
WITNESSES = ["gstreamer1.0-plugins-base-apps", "gstreamer1.0-tools", "xauth", "xvfb"]
PAGE = PROJECT / "docs" / "plugins" / "applications.md"
README = PROJECT / "README.md"
SECONDS = 1200  # a guard against hangs, no measure of speed


def say(text: str) -> None:
    print(f"# {text}\n", end="", flush=True)  # one write: several threads talk


def build_dependencies() -> tuple[str, ...]:
    control = (PROJECT / "debian" / "control").read_text(encoding="utf-8")
    field = re.search(r"^Build-Depends:\n((?: .*\n)+)", control, re.MULTILINE)[1]
    names = {re.match(r"\s*([a-z0-9.+-]+)", line)[1] for line in field.splitlines()}
    return tuple(sorted(names - {"debhelper-compat"} | {"build-essential", "ccache", "debhelper", "lintian"}))


def building_root(release: str) -> debian.Kind:
    if release == "trixie":
        return debian.trixie()  # the suite vm has it already
    return debian.Kind(f"{release}-build", release, build_dependencies())


def copy_of_the_tree(to: Path) -> None:
    """What is tracked or could be: the tree as it stands."""
    files = subprocess.run(["git", "-C", str(PROJECT), "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                           stdout=subprocess.PIPE, check=False)
    if files.returncode:
        shutil.copytree(PROJECT, to, ignore=shutil.ignore_patterns("build*", ".git", "__pycache__"))
        return
    for name in files.stdout.decode().split("\0"):
        if name and (PROJECT / name).is_file():
            (to / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(PROJECT / name, to / name)


class Ran:
    def __init__(self, done: subprocess.CompletedProcess):
        self.status = done.returncode
        self.out = done.stdout
        self.all = f"exit status {done.returncode}\n{done.stdout}\n{done.stderr}"


class Newcomer:
    """A Debian that nobody has done anything to, and its owner."""

    def __init__(self, clean: debian.Root, folder: Path, packages: Path):
        self.out = folder / "out"
        self.out.mkdir(exist_ok=True)
        self._root = folder / "root"
        archives = debian.cache_folder() / f"archives-{folder.name}"
        (archives / "partial").mkdir(parents=True, exist_ok=True)
        if self._root.exists():
            debian.remove(self._root)
        subprocess.run(debian.as_root(["cp", "-a", str(clean.folder), str(self._root)]), check=True)
        self.enter = debian.in_private_namespaces(["bash", str(HERE / "enter.sh"), str(self._root), str(packages),
                                                   str(self.out), str(archives)])

    def types(self, line: str, **environment: str) -> Ran:
        """A line for bash in the home folder, as root."""
        variables = [f"{name}={value}" for name, value in environment.items()]
        return Ran(subprocess.run([*self.enter, "env", *variables, "bash", "-c", f"cd && {line}"],
                                  stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                  errors="replace", timeout=SECONDS))

    def installs(self, what: str) -> Ran:
        """Without what is only recommended: that the dependencies suffice is what can go wrong. apt's lists are as old as
        the root: what has gone from the mirror since makes it look again."""
        line = f"apt-get -q -y --no-install-recommends install {what}"
        ran = self.types(line)
        return self.types(f"apt-get -q update && {line}") if ran.status else ran

    def leaves(self) -> None:
        debian.remove(self._root)


class Cases(Counts):
    def __init__(self, where: str):
        super().__init__()
        self._where = where

    def case(self, right: bool, name: str, why: str) -> bool:
        if right:
            self.passed += 1
        else:
            self.fail(f"{self._where}: {name}", why)
        return right


def build_packages(cases: Cases, release: str, folder: Path) -> bool:
    where = debian.get(building_root(release))
    log = folder / "build.log"
    say(f"{release}: building the packages (log: {log})")
    made = folder / "packages"
    if made.exists():
        debian.remove(made)
    made.mkdir()
    copy_of_the_tree(made / "source")
    status = vm.in_root(where, made, log, "bash", "/project/tests/packages/guest/build.sh")
    built = {name.name.split("_")[0] for name in made.glob("*.deb")}
    if not cases.case(status == 0 and built == OURS, "the packages build", log.read_text(errors="replace")):
        return False
    cases.case((made / "source" / "po" / "gst-dxva.pot").is_file(), "the sentences for translators are collected", "")
    complaints = (made / "lintian.txt").read_text()
    cases.case(re.search(r"^[EW]: |^warning|^internal error", complaints, re.MULTILINE) is None,
               "lintian finds no error and no warning", complaints)
    return True


def verdict_of(ran: Ran) -> tuple[str, set[str]]:
    try:
        verdict = json.loads(ran.out)["verdict"]
    except (ValueError, KeyError):
        return "no answer", set()
    return verdict["outcome"], {problem["id"] for problem in verdict["problems"]}


def asks_the_doctor(cases: Cases, newcomer: Newcomer) -> None:
    ran = newcomer.types("dxva-doctor")
    cases.case(ran.status == 2 and "There is no GPU that renders" in ran.out and "There is no OpenGL context" in ran.out and
               "Video is decoded on the CPU" in ran.out,
               "dxva-doctor without GPU and screen says so, and that video is decoded on the CPU", ran.all)
    ran = newcomer.types(f"{x_server.RUN} dxva-doctor --json")
    outcome, problems = verdict_of(ran)
    cases.case(ran.status == 2 and outcome == "software" and {"no-render-node"} <= problems <= {"no-render-node", "glx"},
               "dxva-doctor on a screen: there is no GPU, and nothing worse", ran.all)
    ran = newcomer.types(f"{x_server.RUN} dxva-doctor --json", GST_DXVA_DEVICE="software")
    outcome, problems = verdict_of(ran)
    cases.case(outcome == "copies" and "bundled-driver" in problems and
               problems <= {"bundled-driver", "export-no-dmabuf", "gl-no-import", "glx"},
               "dxva-doctor with the bundled driver: it decodes, and frames are copied", ran.all)
    ran = newcomer.types("man -w dxva-doctor 2>/dev/null || ls /usr/share/man/man1/dxva-doctor.1.gz")
    cases.case(ran.status == 0, "dxva-doctor has a manual page", ran.all)
    ran = newcomer.types("cd /usr/share/doc/gstreamer1.0-dxva/html && ls && grep -c '<table>' index.html dxvadec.html && "
                         "ls /usr/share/doc/dxva-softva-driver/README.md*")
    missing = {page.stem for page in PAGE.parent.glob("*.md")} - set(re.findall(r"^([a-z-]+)\.html$", ran.out, re.MULTILINE))
    cases.case(ran.status == 0 and not missing, "the pages for users come with the packages", f"missing: {missing}\n{ran.all}")


def plays(cases: Cases, newcomer: Newcomer, clip: Path, wanted: bytes) -> None:
    play = f"gst-play-1.0 --no-interactive --videosink=dxvaglsink /out/{clip.name}"
    for how, player in (("", play),
                        (" with the bundled driver", f"export GST_DXVA_DEVICE=software GST_DEBUG=dxvadec:4; {play}")):
        shown = screen.Screen(player, newcomer.out, newcomer.enter, "/out")
        try:
            right, why = shown.shows(wanted)
        finally:
            shown.close()
        cases.case(right, f"gst-play-1.0 --videosink=dxvaglsink shows the right picture{how}", why)
        if how:
            cases.case("dxvadec" in shown.text(), "… and dxvadec decodes it", shown.text()[-3000:])


def builds_the_examples(cases: Cases, newcomer: Newcomer, clip: Path) -> None:
    """All that the page tells to type, in its order."""
    lines = re.findall(r"^(?:sudo apt |cp |g\+\+ |\./).*$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    cases.case(len(lines) == 6, "the page tells what to install, to copy, to build and to run", "\n".join(lines))
    newcomer.types(f"cp /out/{clip.name} clip.mp4")
    for line in lines:
        if line.startswith("sudo apt install "):
            ran = newcomer.installs(line.removeprefix("sudo apt install "))
        elif line.startswith("./player "):  # the clip is one picture for a long time
            ran = newcomer.types(f"{x_server.RUN} " + line.replace("./player", "./player --frames 40"))
            cases.case("40 frames" in ran.out, "the example player draws frames", ran.all)
        else:
            ran = newcomer.types(line)
        if not cases.case(ran.status == 0, f"the examples by their page: {line}", ran.all):
            return
    ran = newcomer.types("head -c 8 thumbnail.png | tail -c 7")
    cases.case(ran.out.startswith("PNG"), "the example thumbnailer writes a picture", ran.all)


def try_release(release: str, folder: Path, clip: Path, wanted: bytes) -> Counts:
    cases = Cases(RELEASES[release])
    folder.mkdir(parents=True, exist_ok=True)
    started = time.monotonic()
    if not build_packages(cases, release, folder):
        return cases
    say(f"{release}: built in {time.monotonic() - started:.0f} s; installing them on a clean system")
    newcomer = Newcomer(debian.get(debian.Kind(f"{release}-clean", release)), folder, folder / "packages")
    shutil.copy(clip, newcomer.out)
    try:
        # README.md's line, and the driver, for tests.
        line = re.search(r"^sudo apt install (\.\./.*\.deb)$", README.read_text(encoding="utf-8"), re.MULTILINE)[1]
        ran = newcomer.installs(line.replace("../", "/packages/") + " /packages/dxva-softva-driver_*.deb")
        if cases.case(ran.status == 0, "the packages install, and what they need with them", ran.all):
            ran = newcomer.installs(" ".join(WITNESSES))
            if ran.status:
                cases.fail(f"{release}: the test's own packages cannot be installed", ran.all)
            else:
                asks_the_doctor(cases, newcomer)
                plays(cases, newcomer, clip, wanted)
                builds_the_examples(cases, newcomer, clip)
    finally:
        newcomer.leaves()
    say(f"{release}: {cases} ({time.monotonic() - started:.0f} s)")
    return cases


@contextlib.contextmanager
def alone(folder: Path):
    """Runs in one tree wait for each other."""
    folder.mkdir(parents=True, exist_ok=True)
    with contextlib.closing(debian.Lock(folder / "lock")) as lock:
        if not lock.try_to_own():
            say("another run in this tree has the folder: waiting for it")
            lock.own()
        yield


def run(build: Path, releases: list[str] | None = None) -> Counts:
    """`build` is the native build folder; all that is made lies in build/dev/packages."""
    counts = Counts()
    folder = build.resolve() / "dev" / "packages"
    try:
        debian.require("ffmpeg", "tar", "pkill")
        with alone(folder):
            clip = screen.still_clip(folder)
            wanted = screen.first_picture(clip)
            # Side by side: apt and dpkg have one thread.
            with ThreadPoolExecutor() as beside:
                trials = [beside.submit(try_release, release, folder / release, clip, wanted)
                          for release in releases or RELEASES]
                for trial in trials:
                    counts.add(trial.result())
    except debian.Unavailable as reason:
        counts.skips.append(f"packages: {reason}")
    return counts


def run_testing(build: Path) -> Counts:
    """The suite debian-testing."""
    counts = Counts()
    folder = build.resolve() / "dev" / "testing"
    try:
        with alone(folder):
            where = debian.get(debian.Kind("testing", "testing", debian.packages(debian.TOOLS)))
            (folder / "build").mkdir(exist_ok=True)
            problem = vm.compile_there(where, folder / "build", "Debian testing")
            if problem:
                counts.fail("the tree does not compile on Debian testing", problem)
            else:
                counts.add(vm.run_natively(where, folder / "build", ["unit"], "testing"))
    except debian.Unavailable as reason:
        counts.skips.append(f"debian-testing: {reason}")
    return counts


def main() -> int:
    parser = argparse.ArgumentParser(description="The suites packages and debian-testing, for those who work on them.")
    parser.add_argument("--build", type=Path, default=PROJECT / "build")
    parser.add_argument("releases", nargs="*", metavar="RELEASE", help=f"any of: {' '.join([*RELEASES, 'testing'])}")
    arguments = parser.parse_args()
    counts = Counts()
    releases = [release for release in arguments.releases if release != "testing"]
    if releases or not arguments.releases:
        counts.add(run(arguments.build, releases or None))
    if "testing" in arguments.releases:
        counts.add(run_testing(arguments.build))
    for failure in counts.failures:
        print(f"FAILED: {failure.name}\n{failure.tail}")
    for skip in counts.skips:
        print(f"skipped: {skip}")
    print(counts)
    return 1 if counts.failed else 0


if __name__ == "__main__":
    sys.exit(main())
