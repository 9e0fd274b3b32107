# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the programs of the suite share: pipelines with expectations, and TAP."""

import json
import os
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Callable
from pathlib import Path

sys.path.append("/project/tests/check/pipelines")

from faults_play import Run  # noqa: E402

BUILD = Path("/build")
MEDIA = BUILD / "media"
PLAIN = "plain"  # 320x240
CROPPED = "cropped"  # 182x150: the surface is larger than the picture
LONG = "long"  # 128x96, more pictures than surfaces
DEEP = "deep"  # 128x96, 10 bits
SECONDS = 900  # of one program; an emulated processor on a busy machine

# The switch that a real dma-buf needs: llvmpipe imports nothing by itself. "memfd" is not in it.
IMPORT = {"GST_DXVA_TEST": "software-import"}
NO_SWITCH = {"GST_DXVA_TEST": ""}


def environment(more: dict[str, str]) -> dict[str, str]:
    return dict(os.environ, **more)


def ran(command: list[str], more: dict[str, str]) -> str:
    """The program's output; anything but success fails the case with what it said."""
    done = subprocess.run(command, env=environment(more), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=SECONDS, text=True, errors="replace")
    assert done.returncode == 0, f"{command[0]} ended with {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def clip(name: str) -> str:
    return str(MEDIA / f"{name}.h264")


def reference(name: str) -> list[str]:
    """The MD5 of every frame as libavcodec decodes it, taken outside the machine."""
    return (MEDIA / f"{name}.md5").read_text().split()


def play(name: str, **more: str) -> dict:
    """dxvadec ! dxvaglupload, each frame compared byte by byte; what dxva-play found."""
    found = json.loads(ran([str(BUILD / "tools/play/dxva-play"), "--check", "--json", "--sheet", "none", clip(name)],
                           more))
    assert found["mismatches"] == 0, found
    assert found["frames"] == len(reference(name)), found
    return found


def played(name: str, **more: str) -> Run:
    """The same with the way of every single picture, as the table of faults judges it (tests/check/pipelines)."""
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        said = ran(
            [str(BUILD / "tools/play/dxva-play"), "--json", "--sheet", "none", "--framemd5", str(folder / "md5"),
             clip(name)],
            {"GST_DEBUG": "dxvadec:6", "GST_DEBUG_FILE": str(folder / "dxvadec.log"), "GST_DEBUG_NO_COLOR": "1",
             "DXVASOFT_LOG": str(folder / "driver.log"), **more})
        run = Run(0, said, "", folder, reference(name))
    assert run.md5 == run.wanted, f"{run}\nwrong pictures: {run.md5}\nwanted: {run.wanted}"
    return run


class DriverLog:
    """What the driver was asked while `with` lasted, one line a call."""

    def __enter__(self) -> "DriverLog":
        self._folder = tempfile.TemporaryDirectory()
        self.file = str(Path(self._folder.name) / "driver.log")
        return self

    def __exit__(self, *_: object) -> None:
        self._folder.cleanup()

    def lines(self, *calls: str) -> list[str]:
        return [line for line in Path(self.file).read_text().splitlines() if line.split()[0] in calls]


def run_chain(name: str, middle: str, more: dict[str, str]) -> dict:
    description = f"filesrc location={clip(name)} ! h264parse ! {middle} ! appsink name=out"
    return json.loads(ran([str(BUILD / "tests/check/support/chain"), description], more))


def chain(name: str, decoder: str, uploader: str, **more: str) -> dict:
    """H.264 through `decoder`, then `uploader` (launch text; call the elements dec and up) into textures of its
    own format."""
    texture = "P010_10LE" if name == DEEP else "NV12"
    return chain_into(name, f"{decoder} ! {uploader} ! video/x-raw(memory:GLMemory),format={texture}", **more)


def chain_into(name: str, middle: str, **more: str) -> dict:
    """H.264 through `middle` to an application that maps what it gets."""
    found = run_chain(name, middle, more)
    assert found["frames"] == reference(name), f"{found}\nexpected {reference(name)}"
    return found


def chain_into_glupload(name: str, decoder: str, **more: str) -> dict:
    """The same into upstream's glupload. Its imported textures cannot be read back (a map gives memory that was never
    written, GStreamer 1.22 and 1.26), so they are drawn, and compared with the drawn frames of libavcodec."""
    draw = "glupload name=up ! glcolorconvert ! video/x-raw(memory:GLMemory),format=RGBA"
    wanted = run_chain(name, f"avdec_h264 ! videoconvert ! video/x-raw,format=NV12 ! {draw}", more)["frames"]
    assert len(set(wanted)) == len(reference(name)), f"libavcodec's frames are not all different: {wanted}"
    found = run_chain(name, f"{decoder} ! {draw}", more)
    assert found["frames"] == wanted, f"{found}\nexpected {wanted}"
    return found


def all_on(step: str, steps: dict[str, int]) -> None:
    assert steps.get(step, 0) > 0 and sum(steps.values()) == steps[step], f"not all on {step}: {steps}"


def steps_of(found: dict, element: str) -> dict[str, int]:
    return found["elements"][element]["stats"]["steps"]


def reasons_of(found: dict, element: str) -> dict[str, int]:
    return found["elements"][element]["stats"]["reasons"]


def caps_into(found: dict, element: str) -> str:
    return found["elements"][element]["caps"]


def is_drm(caps: str, drm_format: str = "NV12") -> None:
    assert "memory:DMABuf" in caps and "DMA_DRM" in caps and f"drm-format=(string){drm_format}" in caps, caps


def main(cases: list[tuple[str, Callable[[], None]]]) -> None:
    failed = 0
    for number, (title, case) in enumerate(cases, start=1):
        try:
            case()
            print(f"ok {number} - {title}", flush=True)
        except Exception:  # a case must not take the others along
            failed += 1
            print(f"not ok {number} - {title}")
            print("\n".join(f"# {line}" for line in traceback.format_exc().splitlines()), flush=True)
    print(f"1..{len(cases)}")
    sys.exit(1 if failed else 0)
