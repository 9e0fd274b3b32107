# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the machine that runs the tests can do; ./dev says it in DXVA_RIG."""

import os
import subprocess
from dataclasses import dataclass

MEMFD = "memfd"  # no GPU, but an OpenGL that imports: every frame must come without a copy
STOCK = "stock"  # no GPU and an OpenGL that imports nothing
GPU = "gpu"

SECONDS = 300  # a hang, not slowness


def name() -> str:
    return os.environ.get("DXVA_RIG", "")


def clip() -> str:
    return os.environ.get("DXVA_CLIP", "")


def on_the_systems_mesa() -> dict[str, str]:
    """The environment without the private Mesa."""
    environment = dict(os.environ)
    for variable in ("LIBGL_DRIVERS_PATH", "GBM_BACKENDS_PATH", "__EGL_VENDOR_LIBRARY_FILENAMES",
                     "VK_ICD_FILENAMES"):
        environment.pop(variable, None)
    paths = environment.get("LD_LIBRARY_PATH", "").split(":")
    environment["LD_LIBRARY_PATH"] = ":".join(path for path in paths if "/dev/mesa/" not in path)
    return environment


@dataclass
class Ran:
    status: int | None  # None: it hung
    out: str
    err: str

    def __str__(self) -> str:
        return f"exit status {self.status}\n{self.out}\n{self.err}"


def run(command: list[str] | str, environment: dict[str, str] | None = None, **more: str) -> Ran:
    """A command, or a line for bash; `more` are environment variables."""
    argv = ["bash", "-c", command] if isinstance(command, str) else command
    try:
        done = subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, timeout=SECONDS, text=True, errors="replace",
                              env=dict(environment or os.environ, **more))
    except subprocess.TimeoutExpired as late:
        return Ran(None, str(late.stdout), str(late.stderr))
    return Ran(done.returncode, done.stdout, done.stderr)
