# SPDX-License-Identifier: LGPL-2.1-or-later
"""The suite "sanitize": the C++ programs of unit, softva and elements once more, built with
AddressSanitizer, its leak detection, and UndefinedBehaviorSanitizer; and those whose business is threads
with ThreadSanitizer."""

import os
import subprocess
from pathlib import Path

from counts import Counts
from meson_suite import programs_of, run_suite

SUITES = ["unit", "softva", "elements"]
ROOT = Path(__file__).resolve().parents[2]

# The only plugins these programs see beside ours: those of a full set are scanned inside of each program,
# and other people's leaks would be reported as ours.
PLUGINS = ["aom", "app", "audioparsers", "coreelements", "debug", "isomp4", "ivfparse", "jpegformat", "libav",
           "matroska", "mpegtsdemux", "opengl", "typefindfunctions", "videoconvert", "videoconvertscale",
           "videoparsersbad", "videorate", "videotestsrc", "vpx"]


# Without the detection of leaks: Mesa 22.3's driver leaks 128 bytes and is unloaded before anybody could name it in a
# suppression; GstGLViewConvert leaks the text of each shader (_get_shader_string; seen with 1.22), and the stack that would
# name it ends in GLib.
def leaks_unseen(program: str) -> bool:
    return program.endswith("_stock") or program == "dxvaglupload_views"


# What threads share. A build of its own, of these alone: the two sanitizers do not go together, and
# programs with GStreamer's own threads would report those.
THREADED = {"unit": ["gl_release_queue", "va_display_registry", "softva_fault_plan"], "softva": ["va_surface_pool"]}
THREADED_TARGETS = ["lib/softva/dxvasoft_drv_video.so", "tests/check/libs/fakeva/dxvasoft_drv_video.so"]
# What a report needs, and no more: -O1 with line tables takes the compiler half the time of -O2 -g.
SETTINGS = ["-Doptimization=1", "-Ddebug=false", "-Dcpp_args=-g1", "-Dc_args=-g1"]


def prepare(folder: Path, sanitizers: str, targets: list[str]) -> str | None:
    """Configures and builds; the text of what went wrong, or None."""
    if not (folder / "build.ninja").exists():
        setup = ["meson", "setup", str(folder), str(ROOT), f"-Db_sanitize={sanitizers}",
                 "-Db_lundef=false", "-Dtools=disabled", *SETTINGS]
        if (folder / "meson-info").exists():
            setup.append("--wipe")
        if subprocess.run(setup, stdin=subprocess.DEVNULL).returncode:
            return f"meson setup {folder} failed"
    if subprocess.run(["ninja", "-C", str(folder), *targets], stdin=subprocess.DEVNULL).returncode:
        return f"the build in {folder} failed"
    return None


def few_plugins(folder: Path) -> Path:
    """A folder with links to PLUGINS, where this GStreamer has them."""
    answer = subprocess.run(["pkg-config", "--variable=pluginsdir", "gstreamer-1.0"],
                            stdout=subprocess.PIPE, text=True, check=True)
    few = folder / "few-plugins"
    few.mkdir(exist_ok=True)
    for name in PLUGINS:
        library = Path(answer.stdout.strip()) / f"libgst{name}.so"
        link = few / library.name
        if library.exists() and not link.exists():
            link.symlink_to(library)
    return few


def environment(build: Path, folder: Path) -> dict[str, str]:
    """What ./dev set for the plain build, for this one; and the sanitizers' own settings."""
    moved = {}
    for name in ("GST_PLUGIN_PATH", "LIBVA_DRIVERS_PATH"):
        if name in os.environ:
            moved[name] = os.environ[name].replace(str(build), str(folder))
    return moved | {
        "GST_PLUGIN_SYSTEM_PATH": str(few_plugins(folder)),
        "GST_REGISTRY": str(folder / "few-plugins.bin"),
        # The plugin scanner is a program of GStreamer's, built without the sanitizers' runtime,
        # and could not load our plugins.
        "GST_REGISTRY_FORK": "no",
        "CK_TIMEOUT_MULTIPLIER": "10",
        # Not intercept_tls_get_addr: a library's block of thread-local variables that lies at the begin of a
        # page (one in some hundred, of LLVM in lavapipe) is taken for one of an old glibc, with its own header,
        # and LeakSanitizer's tracer dies of reading what stands there (signal 11). Without it, what the linker
        # has allocated is scanned all the same.
        "ASAN_OPTIONS": "detect_leaks=1:detect_stack_use_after_return=1:strict_string_checks=1:"
                        "intercept_tls_get_addr=0",
        "UBSAN_OPTIONS": "print_stacktrace=1:halt_on_error=1",
    }


def run_threaded(build: Path) -> Counts:
    """The programs of THREADED with ThreadSanitizer."""
    folder = build.with_name(build.name + "-threads")
    counts = Counts()
    programs = [program for names in THREADED.values() for program in names]
    problem = prepare(folder, "thread", THREADED_TARGETS +
                      [f"tests/check/libs/{program}" for program in programs])
    if problem:
        counts.fail("sanitize: threads", problem)
        return counts
    settings = environment(build, folder) | {"TSAN_OPTIONS": "halt_on_error=1"}
    for suite, names in THREADED.items():
        ran = run_suite(folder, suite, only=names, timeout_factor=10, environment=settings)
        if not ran.ran_anything():
            ran.fail(f"sanitize: threads, {suite}", "no case ran")
        counts.add(ran)
    return counts


def run(build: Path) -> Counts:
    folder = build.with_name(build.name + "-sanitize")
    counts = Counts()
    problem = prepare(folder, "address,undefined", [])
    if problem:
        counts.fail("sanitize", problem)
        return counts
    for suite in SUITES:
        # A script only starts programs of the plain build or of other projects.
        programs = [test["name"] for test in programs_of(folder, suite)
                    if "python" not in Path(test["cmd"][0]).name and
                    not test["cmd"][0].endswith(".py")]
        settings = environment(build, folder)
        ran = run_suite(folder, suite, only=[p for p in programs if not leaks_unseen(p)],
                        timeout_factor=10, environment=settings)
        settings["ASAN_OPTIONS"] += ":detect_leaks=0"
        ran.add(run_suite(folder, suite, only=[p for p in programs if leaks_unseen(p)],
                          timeout_factor=10, environment=settings))
        if not ran.ran_anything():
            ran.fail(f"sanitize: {suite}", "no case ran")
        counts.add(ran)
    counts.add(run_threaded(build))
    return counts
