# SPDX-License-Identifier: LGPL-2.1-or-later
"""Outputs that are named by a person: what they may replace, and what they never do."""

import os
import stat
import threading
from pathlib import Path

import rig
from tap import Tap

FULL = os.makedev(1, 7)  # what /dev/full is; that one itself is never named, a mistake would replace it


def full_disk(folder: str) -> Path | None:
    """A device on which nothing can be written, of our own; None where we may not make one."""
    device = Path(folder, "full")
    try:
        if not device.exists():
            os.mknod(device, 0o600 | stat.S_IFCHR, FULL)
        with device.open("wb", buffering=0):
            return device
    except OSError:
        return None


def is_full_disk(device: Path) -> bool:
    found = device.lstat()
    return stat.S_ISCHR(found.st_mode) and found.st_rdev == FULL


def read_fifo(fifo: Path, into: list[bytes]) -> threading.Thread:
    """Reads it to its end; opening it waits for the writer."""
    os.mkfifo(fifo)
    thread = threading.Thread(target=lambda: into.append(fifo.read_bytes()), daemon=True)
    thread.start()
    return thread


def leftovers(folder: str) -> list[str]:
    return [name for name in os.listdir(folder) if name.endswith(".part")]


def check_refusals(tap: Tap, command: list[str], option: str, like: bytes, status: int, folder: str) -> None:
    """`option` replaces an empty file and its like, and refuses whatever else is there, before it works."""
    other = Path(folder, f"holiday{option}.mp4")
    other.write_bytes(b"\0\0\0\x20ftypisom")
    ran = rig.run([*command, option, str(other)])
    tap.case(ran.status == status and other.read_bytes() == b"\0\0\0\x20ftypisom" and ran.out == "" and
             str(other) in ran.err and "remove it or choose another name" in ran.err,
             f"{option} does not replace what is something else", str(ran))
    locked = Path(folder, f"locked{option}")
    locked.write_bytes(like)
    locked.chmod(0o444)
    ran = rig.run([*command, option, str(locked)])
    tap.case(ran.status not in (0, None) and ran.out == "" and locked.read_bytes() == like and
             f"{locked}: Permission denied" in ran.err, f"{option} does not replace a read-only file, and says so first",
             str(ran))
    target, link = Path(folder, f"target{option}"), Path(folder, f"link{option}")
    target.write_bytes(like)
    target.chmod(0o640)
    link.symlink_to(target.name)
    ran = rig.run([*command, option, str(link)])
    tap.case(link.is_symlink() and target.read_bytes() != like and target.stat().st_mode & 0o777 == 0o640 and
             not leftovers(folder), f"{option} follows a symlink, replaces its like and keeps the mode", str(ran))
    fifo, got = Path(folder, f"fifo{option}"), []
    reader = read_fifo(fifo, got)
    ran = rig.run([*command, option, str(fifo)])
    if not stat.S_ISFIFO(fifo.lstat().st_mode):  # nobody will ever write to it: the reader is a daemon
        tap.case(False, f"{option} writes to a FIFO", str(ran))
        return
    reader.join(rig.SECONDS)
    tap.case(got and got[0][:4] == target.read_bytes()[:4], f"{option} writes to a FIFO", f"{ran}\n{got}")
