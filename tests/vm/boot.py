# SPDX-License-Identifier: LGPL-2.1-or-later
"""Boots the root in QEMU's processor emulation and listens to what the suite says.

KVM would be faster by far, but it needs hardware that a virtual machine such as CI's seldom has; this runs anywhere.
"""

import subprocess
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

QEMU = "qemu-system-x86_64"
UP = "=== up"
DONE = "=== done"
# A CPU model without AVX: QEMU 7.2 computes some of it wrong (AV1 pictures differ).
MACHINE = ["-accel", "tcg,thread=multi", "-cpu", "Nehalem", "-smp", "2", "-m", "3072", "-nodefaults",
           "-vga", "none", "-display", "none", "-no-reboot", "-device", "virtio-rng-pci"]
NINE_P = "trans=virtio,version=9p2000.L,msize=1048576,cache=loose"
# no_timer_check: the kernel's test of its timer fails when this machine is busy, and panics.
KERNEL = (f"console=ttyS0 root=rootfs rootfstype=9p rootflags={NINE_P} ro quiet loglevel=4 panic=-1 "
          "no_timer_check init=/sbin/dxva-first")


@dataclass
class Limits:
    boot_s: int = 600  # until the suite says that it is up; 15 to 60 s are usual
    all_s: int = 7200  # on an idle machine a tenth of it is used


class BootFailed(Exception):
    """The machine never came to the suite: no verdict about the code."""


def command(root: Path, project: Path, build: Path, media: Path | None, console: Path, devices: list[str],
            words: list[str]) -> list[str]:
    """`media` is the collection of streams, if there is one; `words` are the kernel's to ignore and suite.sh's to
    read."""

    def share(path: Path, tag: str, *options: str) -> list[str]:
        return ["-virtfs", ",".join([f"local,path={path}", f"mount_tag={tag}", "security_model=none",
                                     "multidevs=remap", *options])]

    kernel = sorted((root / "boot").glob("vmlinuz-*"))[-1]
    initrd = sorted((root / "boot").glob("initrd.img-*"))[-1]
    arguments = [QEMU, *MACHINE, "-kernel", str(kernel), "-initrd", str(initrd), *share(root, "rootfs", "readonly=on"),
                 *share(project, "project", "readonly=on"), *share(build, "build"),
                 *(share(media, "media", "readonly=on") if media else []),
                 "-serial", f"file:{console}", "-serial", "stdio",
                 "-append", " ".join([KERNEL, *words])]
    for device in devices:
        arguments += ["-device", device]
    return arguments


def lines(arguments: list[str], console: Path, limits: Limits) -> Iterator[str]:
    """What the suite prints. Ends when the machine is off or its time is over; BootFailed before the first line."""
    console.unlink(missing_ok=True)
    machine = subprocess.Popen(arguments, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def end() -> None:
        if machine.poll() is None:
            machine.kill()

    said = []
    up = False
    timer = threading.Timer(limits.boot_s, end)
    timer.start()
    try:
        for raw in machine.stdout:
            line = raw.decode(errors="replace").rstrip("\r\n")
            if not up:
                said.append(line)
            if line == UP:
                up = True
                timer.cancel()
                timer = threading.Timer(limits.all_s, end)
                timer.start()
            elif up:
                yield line
    finally:
        timer.cancel()
        end()
        machine.wait()
    if not up:
        kernel = console.read_text(errors="replace") if console.exists() else ""
        raise BootFailed("\n".join((said + kernel.splitlines())[-25:]))


def panicked(console: Path) -> str:
    """The kernel's last words, or nothing."""
    text = console.read_text(errors="replace") if console.exists() else ""
    at = max(text.find("Kernel panic"), text.find("BUG: "), text.find("Oops: "))
    return "\n".join(text[at:].splitlines()[:20]) if at >= 0 else ""
