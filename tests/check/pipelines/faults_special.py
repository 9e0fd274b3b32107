# SPDX-License-Identifier: LGPL-2.1-or-later
"""Cases beside the table: users who insist or decline, descriptors that run out, sinks that give nothing
back, and a picture that is read back from the GPU."""

import os
import subprocess

from faults_play import FRAMES, HEIGHT, SECONDS, WIDTH, Clip, Run
from tap import Tap


def insisting(tap: Tap, clip: Clip) -> None:
    run = clip.play("--zero-copy", "require", environment={"DXVASOFT_LAYOUT": "gap"})
    tap.case(not run.wrong_pictures() and run.steps == {"egl": FRAMES},
             "zero-copy=require plays where every surface can be exported", str(run))
    run = clip.play("--zero-copy", "require",
                    environment={"DXVASOFT_LAYOUT": "tiled", "DXVASOFT_MODIFIERS": "not-decoded"})
    tap.case(not run.wrong_pictures() and run.steps == {"gpu-copy": FRAMES} and run.ways == {"gpu-copy": FRAMES} and
             run.count("getimage") + run.count("deriveimage") < 8,
             "zero-copy=require plays where the device can copy what cannot be imported", str(run))
    for what, reason, environment in [
        ("an export that fails", "export-failed", {"DXVASOFT_FAULT": "export:at=20"}),
        ("tiled memory that nobody takes", "modifier-not-linear",
         {"DXVASOFT_LAYOUT": "tiled", "DXVASOFT_MODIFIERS": "ignored"}),
        ("surfaces that turn tiled", "modifier-not-linear",
         {"DXVASOFT_LAYOUT": "tiled", "DXVASOFT_TILED_FROM": "20", "DXVASOFT_FAULT": "vpp:from=1,copy:from=1"}),
        ("a device that fails", "decode-errors", {"DXVASOFT_FAULT": "endpicture:at=40"}),
    ]:
        run = clip.play("--zero-copy", "require", environment=environment)
        lines = run.err.splitlines()
        tap.case(run.status == 1 and len(lines) == 1 and reason in lines[0] and "require" in lines[0],
                 f"zero-copy=require turns {what} into an error that says so", str(run))


def declining(tap: Tap, clip: Clip) -> None:
    for what, options, environment in [("zero-copy=off", ("--zero-copy", "off"), {}),
                                       ("GST_DXVA_ZEROCOPY=0", (), {"GST_DXVA_ZEROCOPY": "0"})]:
        run = clip.play(*options, environment=environment)
        tap.case(not run.wrong_pictures() and run.steps == {"cpu-copy": FRAMES} and
                 run.reasons == {"zero-copy-off": FRAMES} and run.count("export") == 0 and
                 run.count("endpicture") == FRAMES,
                 f"with {what} the driver is never asked to export", str(run))


def holding(tap: Tap, clip: Clip) -> None:
    """The application keeps every frame."""
    plain = clip.play("--zero-copy", "off")
    run = clip.play("--hold")
    changes = run.changes_of("dxvadec")
    tap.case(not run.wrong_pictures() and run.steps.get("egl", 0) > 0 and
             run.reasons == {"surface-pool-empty": run.steps.get("cpu-copy")} and
             changes == ["dxvadec: exported > cpu-copy, surface-pool-empty"],
             "a sink that keeps every frame gets copies when the surfaces are out", str(run))
    held = run.descriptors - plain.descriptors
    tap.case(0 < run.descriptors and held <= 2 * FRAMES,
             "a held frame costs at most two descriptors", f"{held} for {FRAMES} frames\n{run}")


def running_out(tap: Tap, clip: Clip) -> None:
    """Descriptors: a limit in the middle of the stream's needs, and one that it cannot start with."""
    for limit in (256, 128, 96):
        for options in ((), ("--hold",)):
            run = clip.play(*options, descriptors=limit)
            copied = run.steps.get("cpu-copy", 0)
            told = {"surface-pool-empty", "export-failed", "bad-descriptor", "egl-bad-alloc"}
            tap.case(not run.wrong_pictures() and run.steps.get("egl", 0) + copied == FRAMES and
                     sum(run.reasons.values()) == copied and set(run.reasons) <= told,
                     f"with {limit} descriptors{' and frames kept' if options else ''} the rest is copied",
                     str(run))
    for limit in (32, 24, 16):
        run = clip.play(descriptors=limit)
        ended_well = not run.wrong_pictures()
        tap.case(ended_well or (run.status is not None and run.status > 0 and run.err != ""),
                 f"with {limit} descriptors the stream is whole or ends in an error", str(run))


def reading_back(tap: Tap, clip: Clip) -> None:
    """As NV12, from an imported texture, by somebody else's element."""
    out = clip.folder / "downloaded.nv12"
    done = launch(f"filesrc location={clip.file} ! qtdemux ! h264parse ! dxvadec ! dxvaglupload ! gldownload "
                  f"! video/x-raw,format=NV12 ! filesink location={out}")
    same = out.exists() and out.read_bytes() == clip.raw.read_bytes()
    tap.case(done.returncode == 0 and same, "an imported picture read back as NV12 is the picture",
             f"same: {same}\n{done.stdout}\n{done.stderr}")


def changing_size(tap: Tap, clip: Clip) -> None:
    """In one byte stream, with and without a driver that fails now and then."""
    sizes = ((640, 352), (320, 240), (854, 470))
    stream = Clip(clip.folder, clip.player, "sizes.h264", sizes=sizes, frames=20)
    for faults in ("", "export:every=7", "export:from=1", "endpicture:at=30", "sync:at=45"):
        run = stream.play(environment={"DXVASOFT_FAULT": faults})
        tap.case(not run.wrong_pictures() and sum(run.steps.values()) == stream.frames,
                 f"a stream that changes its size twice, fault '{faults}'", str(run))


def mapping(tap: Tap, clip: Clip) -> None:
    """Somebody else's elements that read our pictures, whatever the surfaces are laid out as."""
    luma = WIDTH * HEIGHT
    size = luma * 3 // 2
    raw, wanted = clip.raw.read_bytes(), bytearray()
    for at in range(0, size * FRAMES, size):
        picture = raw[at:at + size]
        wanted += picture[:luma] + picture[luma + 1::2] + picture[luma::2]  # YV12: first V, then U
    for name, environment in [("linear", {}), ("gap", {"DXVASOFT_LAYOUT": "gap"}),
                              ("tiled", {"DXVASOFT_LAYOUT": "tiled", "DXVASOFT_MODIFIERS": "ignored"})]:
        out = clip.folder / f"{name}.yv12"
        done = launch(f"filesrc location={clip.file} ! qtdemux ! h264parse ! dxvadec ! videoconvert "
                      f"! video/x-raw,format=YV12 ! filesink location={out}", **environment)
        same = out.exists() and out.read_bytes() == bytes(wanted)
        tap.case(done.returncode == 0 and same, f"videoconvert reads {name} surfaces",
                 f"same: {same}\n{done.stdout}\n{done.stderr}")
        jpegs = []
        for decoder in ("dxvadec", "avdec_h264"):
            out = clip.folder / f"{name}-{decoder}.jpeg"
            done = launch(f"filesrc location={clip.file} ! qtdemux ! h264parse ! {decoder} "
                          f"! jpegenc snapshot=true ! filesink location={out}", **environment)
            jpegs.append(out.read_bytes() if done.returncode == 0 and out.exists() else b"")
        tap.case(jpegs[0] != b"" and jpegs[0] == jpegs[1], f"jpegenc takes a snapshot of {name} surfaces",
                 f"{[len(jpeg) for jpeg in jpegs]} bytes\n{done.stderr}")


def failing_for_good(tap: Tap, clip: Clip) -> None:
    done = launch(f"filesrc location={clip.file} ! qtdemux ! h264parse ! dxvadec software-fallback=false "
                  "! dxvaglupload ! fakesink", DXVASOFT_FAULT="endpicture:from=40")
    tap.case(done.returncode == 1 and "decode-errors" in done.stderr and "EOS" not in done.stdout,
             "a device that fails for good, without fallback, is an error and no end of stream",
             f"exit status {done.returncode}\n{done.stdout}\n{done.stderr}")


def launch(line: str, **environment: str) -> subprocess.CompletedProcess:
    return subprocess.run(["gst-launch-1.0", *line.split()], stdin=subprocess.DEVNULL, text=True,
                          errors="replace", capture_output=True, timeout=SECONDS,
                          env=dict(os.environ, GST_DXVA_DEVICE="software",
                                   GST_DXVA_TEST="memfd,software-import", **environment))


def cases(tap: Tap, clip: Clip) -> None:
    for part in (insisting, declining, holding, running_out, reading_back, changing_size, mapping,
                 failing_for_good):
        part(tap, clip)
