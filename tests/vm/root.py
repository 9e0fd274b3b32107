# SPDX-License-Identifier: LGPL-2.1-or-later
"""Debian systems in folders: the one that the suite vm compiles in and boots from, and those of the suite packages.

They lie in $XDG_CACHE_HOME/gst-dxva, under a name with a hash of their packages and their recipe, and are never
written to after they were made: several checkouts may use one at the same time. One is made under another name and
renamed when whole, so a folder with the right name is a whole root.
"""

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
PROJECT = HERE.parents[1]
TOOLS = PROJECT / "tools" / "dev" / "packages.txt"
RECIPE = [HERE / "make-root.sh", HERE / "guest" / "first"]
KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
TRIXIE_KEY = Path("/usr/share/keyrings/debian-archive-trixie-stable.gpg")
KEPT = 2  # roots of a kind: this one and the one another branch may still use


@dataclass(frozen=True)
class Kind:
    """What a root is for. `name` is its folder's, without the hash."""

    name: str
    debian: str  # the release: a code name or "testing"
    packages: tuple[str, ...] = ()
    boots: bool = False  # has a kernel whose initrd can mount it over 9p

    def key(self) -> str:
        digest = hashlib.sha256("\n".join([self.debian, str(self.boots), *self.packages]).encode())
        for file in RECIPE:
            digest.update(file.read_bytes())
        return digest.hexdigest()[:12]


class Unavailable(Exception):
    """This machine cannot have the rig; the text is the reason to skip."""


def as_root(command: list[str]) -> list[str]:
    return command if os.geteuid() == 0 else ["sudo", "-n", "--preserve-env=http_proxy", *command]


def tied_to_us(command: list[str]) -> list[str]:
    """Whoever ends this program, even by SIGKILL, ends the command too."""
    return ["setpriv", "--pdeathsig", "KILL", *command]


def in_private_namespaces(command: list[str]) -> list[str]:
    """Mounts vanish and processes die with the command, however it ends."""
    return as_root(tied_to_us(["unshare", "--mount", "--propagation", "private", "--pid", "--fork", "--kill-child",
                               *command]))


def require(*programs: str) -> None:
    path = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"
    for program in programs:
        if not shutil.which(program, path=path):
            raise Unavailable(f"no {program} here")
    if os.geteuid() != 0 and subprocess.run(["sudo", "-n", "true"], stderr=subprocess.DEVNULL).returncode:
        raise Unavailable("needs root, or sudo without a password")


def require_namespaces() -> None:
    """What the rig does to mounts, tried on an empty folder: containers often forbid it, each with its own words."""
    attempt = "mount -t tmpfs tmpfs /mnt && mkdir /mnt/proc && mount -t proc proc /mnt/proc && mknod /mnt/null c 1 3"
    tried = subprocess.run(in_private_namespaces(["sh", "-c", attempt]), stdin=subprocess.DEVNULL,
                           stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, errors="replace")
    if tried.returncode:
        raise Unavailable("no mounts or device nodes in a namespace of our own here: "
                          f"{' '.join(tried.stderr.split()) or tried.returncode}")


def packages(*lists: Path) -> tuple[str, ...]:
    lines = [line.partition("#")[0].strip() for file in lists for line in file.read_text().splitlines()]
    return tuple(sorted({line for line in lines if line}))


def trixie() -> Kind:
    """The suite vm's, in which the suite packages builds as well."""
    return Kind("trixie", "trixie", packages(TOOLS, HERE / "packages.txt"), boots=True)


def mirror() -> str:
    """Where this machine's own apt finds Debian, security and other side archives left out."""
    answer = subprocess.run(
        ["apt-get", "indextargets", "--format", "$(REPO_URI) $(RELEASE) $(ORIGIN)", "Identifier: Packages"],
        stdout=subprocess.PIPE, text=True, check=False).stdout
    for line in answer.splitlines():
        uri, release, *origin = line.split()
        if origin[:1] == ["Debian"] and "-" not in release:
            return uri
    raise Unavailable("apt knows no mirror of Debian here")


def remove(folder: Path) -> None:
    subprocess.run(as_root(["rm", "-rf", "--one-file-system", str(folder)]), check=True)


class Lock:
    """A file lock that ends with the process at the latest."""

    def __init__(self, file: Path):
        self._fd = os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)

    def share(self) -> None:
        fcntl.flock(self._fd, fcntl.LOCK_SH)

    def own(self) -> None:
        fcntl.flock(self._fd, fcntl.LOCK_EX)

    def try_to_own(self) -> bool:
        try:
            fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def close(self) -> None:
        os.close(self._fd)


class Root:
    """A root that nobody removes while this object lives."""

    def __init__(self, folder: Path, lock: Lock):
        self.folder = folder
        self._lock = lock


def make(kind: Kind, folder: Path, log: Path) -> None:
    unfinished = folder.with_name(folder.name + ".part")
    if unfinished.exists():
        remove(unfinished)
    command = in_private_namespaces(["bash", str(HERE / "make-root.sh"), str(unfinished), kind.debian, mirror(),
                                     str(KEYRING), "boots" if kind.boots else "stays", *kind.packages])
    print(f"# making the root {folder} (log: {log})", file=sys.stderr, flush=True)
    started = time.monotonic()
    with log.open("wb") as output:
        failed = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=output,
                                stderr=subprocess.STDOUT).returncode
    if failed:
        tail = "\n".join(log.read_text(errors="replace").splitlines()[-15:])
        remove(unfinished)
        raise Unavailable(f"the root of Debian {kind.debian} could not be made (log: {log}):\n{tail}")
    subprocess.run(as_root(["mv", "-T", str(unfinished), str(folder)]), check=True)
    print(f"# the root took {time.monotonic() - started:.0f} s", file=sys.stderr, flush=True)


def remove_old(kind: Kind, cache: Path, used: Path) -> None:
    """Keeps the others that were used last; never removes one that somebody holds."""

    def lock_of(folder: Path) -> Path:
        return folder.with_suffix(".lock")

    # A hash of twelve digits: "trixie" is also how "trixie-clean" begins.
    unfinished = list(cache.glob(f"{kind.name}-{'?' * 12}.part"))
    whole = [folder for folder in cache.glob(f"{kind.name}-{'?' * 12}")
             if folder.is_dir() and folder != used and folder not in unfinished and lock_of(folder).exists()]
    whole.sort(key=lambda folder: lock_of(folder).stat().st_mtime, reverse=True)
    for folder in [*unfinished, *whole[KEPT - 1:]]:
        lock = Lock(lock_of(folder))
        if lock.try_to_own():
            remove(folder)
        lock.close()


def cache_folder() -> Path:
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "gst-dxva"
    cache.mkdir(parents=True, exist_ok=True)
    return cache


def get(kind: Kind) -> Root:
    """The root of this tree's recipe, made first where there is none."""
    require("debootstrap", "unshare", "setpriv", "chroot")
    require_namespaces()
    if not KEYRING.exists() or not TRIXIE_KEY.exists():
        raise Unavailable("debian-archive-keyring is missing or too old to know Debian 13")
    cache = cache_folder()
    folder = cache / f"{kind.name}-{kind.key()}"
    lock = Lock(folder.with_suffix(".lock"))
    while True:
        lock.share()
        if folder.is_dir():
            break
        # flock cannot turn a shared lock into an exclusive one in one step: look again after it.
        lock.own()
        if not folder.is_dir():
            make(kind, folder, folder.with_suffix(".log"))
    os.utime(folder.with_suffix(".lock"))
    remove_old(kind, cache, folder)
    return Root(folder, lock)


if __name__ == "__main__":
    try:
        print(get(trixie()).folder)
    except Unavailable as reason:
        sys.exit(str(reason))
