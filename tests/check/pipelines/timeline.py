#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The picture of where each frame's time went: every frame is in it, and those that stand out are those that
dxvadec's log says were copied.

timeline.py DXVA_PLAY THUMBNAILER"""

import fcntl
import os
import re
import select
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

import outputs  # noqa: E402
import rig  # noqa: E402
from faults_play import FRAMES, Clip  # noqa: E402
from tap import Tap, skip_all  # noqa: E402

SVG = "{http://www.w3.org/2000/svg}"
STAGES = ("decode", "wait", "export", "copy", "import", "upload", "fence")


def frames_of(file: Path) -> list[dict[str, str]]:
    """What the picture says about each frame; raises where it is no XML."""
    return [{name.removeprefix("data-"): value for name, value in group.attrib.items()}
            for group in ElementTree.parse(file).getroot().iter(SVG + "g") if group.get("class") == "frame"]


def text_of(file: Path) -> str:
    return " ".join(ElementTree.parse(file).getroot().itertext())


def check_faults(tap: Tap, clip: Clip, folder: Path) -> None:
    """Every 7th export fails: the surfaces concerned stand out, and no other."""
    picture = folder / "faults & more.svg"
    run = clip.play("--timeline", str(picture), environment={"DXVASOFT_FAULT": "export:every=7"})
    frames = frames_of(picture)
    copied = [i for i, (_, way, _) in enumerate(run.pictures) if way == "cpu-copy"]
    tap.case(run.status == 0 and not run.wrong_pictures() and len(frames) == FRAMES == len(run.pictures) and
             [int(frame["frame"]) for frame in frames] == list(range(FRAMES)), "each frame is in the picture once",
             f"{len(frames)} frames\n{run}")
    tap.case(0 < len(copied) < FRAMES and [i for i, f in enumerate(frames) if f.get("bad") == "yes"] == copied,
             "with export:every=7 exactly the frames that dxvadec copied stand out", f"{copied}\n{frames}")
    tap.case([(f["step"], f["reason"]) for f in frames] ==
             [(("egl", "cpu-copy")[way == "cpu-copy"], reason) for _, way, reason in run.pictures],
             "each frame has its step and reason", f"{frames}")
    surfaces = {(f["surface"], surface) for f, (surface, _, _) in zip(frames, run.pictures)}
    tap.case(len(surfaces) == len({drawn for drawn, _ in surfaces}) == len({said for _, said in surfaces}) > 1,
             "and the surface that it was on", f"{surfaces}")
    copies = [f for i, f in enumerate(frames) if i in copied]
    others = [f for i, f in enumerate(frames) if i not in copied]
    tap.case(all(float(f.get("copy", 0)) > 0 and float(f.get("upload", 0)) > 0 for f in copies) and
             all("copy" not in f and "upload" not in f and float(f.get("import", 0)) > 0 for f in others),
             "copies took time to copy, and nothing else did", f"{frames}")
    tap.case(all(float(f.get("decode", 0)) > 0 and float(f.get("export", 0)) > 0 and float(f.get("wait", 0)) > 0
                 for f in frames) and all("fence" in f for f in others),
             "every frame was decoded, exported and waited for, and its fence signalled", f"{frames}")
    text = text_of(picture)
    tap.case(f"{FRAMES} frames: egl {len(others)}, cpu-copy {len(copied)} (export-failed {len(copied)})" in text and
             re.search(r"\d+ of \d+: export-failed", text) is not None, "the stream and its bad surfaces say so in words",
             text[-3000:])


def check_tracer(tap: Tap, clip: Clip, folder: Path) -> None:
    source = f'filesrc location="{clip.file}" ! qtdemux ! h264parse'
    chain = "dxvadec ! dxvaglupload ! fakesink sync=false"
    picture = folder / "two.svg"
    ran = rig.run(f"gst-launch-1.0 -q {source} ! {chain} {source} ! {chain}", GST_TRACERS=f"dxva(file={picture})")
    streams = Counter(frame["stream"] for frame in frames_of(picture))
    tap.case(ran.status == 0 and streams == {"dxvadec0": FRAMES, "dxvadec1": FRAMES},
             "GST_TRACERS draws every stream of a process", f"{streams}\n{ran}")
    steps = Counter(frame["step"] for frame in frames_of(picture))
    tap.case(set(steps) == ({"cpu-copy"} if rig.name() == rig.STOCK else {"egl"}) and
             not any("bad" in frame for frame in frames_of(picture)), "nothing stands out where all take one step",
             f"{steps}")

    picture = folder / "short.svg"
    ran = rig.run(f"gst-launch-1.0 -q {source} ! {chain}", GST_TRACERS=f"dxva(file={picture},frames=16)")
    frames = [int(frame["frame"]) for frame in frames_of(picture)]
    tap.case(ran.status == 0 and frames == list(range(FRAMES - 16, FRAMES)) and
             f"Drawn are the last 16; the {FRAMES - 16} before them" in text_of(picture),
             "frames=16 keeps the last 16 and counts the rest", f"{frames}\n{ran}")

    picture = folder / "foreign.svg"
    ran = rig.run("gst-launch-1.0 -q videotestsrc num-buffers=9 ! video/x-raw,format=NV12 ! dxvaglupload ! fakesink",
                  GST_TRACERS=f"dxva(file={picture})")
    frames = frames_of(picture)
    tap.case(ran.status == 0 and {(f["stream"], f["step"]) for f in frames} == {("dxvaglupload0", "cpu-copy")} and
             len(frames) == 9, "frames of a foreign producer are the uploader's", f"{frames}\n{ran}")

    ran = rig.run(f'cd "{folder}" && gst-launch-1.0 -q {source} ! {chain}', GST_TRACERS="dxva")
    tap.case(ran.status == 0 and len(frames_of(folder / "dxva-timeline.svg")) == FRAMES,
             "without a name it is dxva-timeline.svg", str(ran))
    ran = rig.run(f'cd "{folder}" && rm dxva-timeline.svg && gst-launch-1.0 -q {source} ! {chain}')
    tap.case(ran.status == 0 and not (folder / "dxva-timeline.svg").exists(), "nobody asked, nothing is drawn", str(ran))

    picture = folder / "thumbnailer.svg"
    ran = rig.run([sys.argv[2], str(clip.file), "0.5", str(folder / "thumbnail.png")],
                  GST_TRACERS=f"dxva(file={picture})")
    tap.case(ran.status == 0 and len(frames_of(picture)) > 0, "a program that does not call gst_deinit() gets its picture",
             str(ran))

    ran = rig.run(f"gst-launch-1.0 -q {source} ! {chain}", GST_DEBUG="GST_TRACER:7", GST_DEBUG_NO_COLOR="1",
                  GST_TRACERS=f"leaks;dxva(file={folder / 'leaks.svg'})")
    alive = re.findall(r"object-alive, type-name=\(string\)(?!%s).*", ran.err)
    tap.case(ran.status == 0 and "GST_TRACER" in ran.err and not alive, "and keeps no object alive", "\n".join(alive))


def check_kept(tap: Tap, clip: Clip, folder: Path, player: str) -> None:
    """A picture is replaced by a better one only, and nothing else is."""
    play = [player, "--sheet", "none"]
    outputs.check_refusals(tap, [*play, str(clip.file)], "--timeline", b"<svg/>", 2, str(folder))
    good, nonsense = folder / "good.svg", folder / "nonsense.mp4"
    good.write_text("<svg/>")
    nonsense.write_text("this is no video")
    ran = rig.run([*play, "--timeline", str(good), str(nonsense)])
    tap.case(ran.status == 1 and good.read_text() == "<svg/>", "media without frames leaves the old picture", str(ran))
    ran = rig.run("gst-launch-1.0 -q fakesrc num-buffers=1 ! fakesink", GST_TRACERS=f"dxva(file={good})")
    tap.case(ran.status == 0 and good.read_text() == "<svg/>", "and so does GST_TRACERS", str(ran))
    ran = rig.run('gst-launch-1.0 -q videotestsrc num-buffers=9 ! video/x-raw,format=NV12 ! dxvaglupload ! fakesink',
                  GST_TRACERS=f"dxva(file={nonsense})")
    tap.case(ran.status == 0 and nonsense.read_text() == "this is no video" and "dxva tracer: " in ran.err,
             "which does not replace a video either", str(ran))
    check_interrupted(tap, clip, folder, player)


def check_interrupted(tap: Tap, clip: Clip, folder: Path, player: str) -> None:
    """Ctrl-C in the middle: sums go to a pipe that is full before the last of them, so the run cannot end by itself."""
    picture, sums = folder / "interrupted.svg", folder / "sums"
    os.mkfifo(sums)
    reader = os.open(sums, os.O_RDONLY | os.O_NONBLOCK)
    fcntl.fcntl(reader, fcntl.F_SETPIPE_SZ, 4096)
    with subprocess.Popen([player, "--sheet", "none", "--timeline", str(picture), "--framemd5", str(sums), rig.clip()],
                          stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as playing:
        began = bool(select.select([reader], [], [], rig.SECONDS)[0])
        playing.send_signal(signal.SIGINT)
        os.set_blocking(reader, True)
        while os.read(reader, 4096):
            pass
        err = playing.communicate()[1]
    os.close(reader)
    tap.case(began and playing.returncode == -signal.SIGINT and picture.is_file() and frames_of(picture),
             "Ctrl-C ends the run as such, and there is a picture of what went", f"{playing.returncode}\n{err!r}")


def check_errors(tap: Tap, clip: Clip, folder: Path, player: str) -> None:
    play = [player, "--sheet", "none", "--json"]
    nowhere = folder / "none" / "timeline.svg"
    ran = rig.run([*play, "--timeline", str(nowhere), str(clip.file)])
    tap.case(ran.status == 1 and ran.out == "" and ran.err == f"dxva-play: {nowhere}: No such file or directory\n",
             "dxva-play says where it cannot write, before it plays", str(ran))
    device = outputs.full_disk(str(folder))
    if device:
        ran = rig.run([*play, "--timeline", str(device), str(clip.file)])
        tap.case(ran.status == 1 and f'"frames" : {FRAMES}' in ran.out and f"{device}: No space left" in ran.err,
                 "a full disk is an error after the summary", str(ran))
    else:
        tap.skip("a full disk", "device files cannot be made here")
    line = (f'gst-launch-1.0 -q filesrc location="{clip.file}" ! qtdemux ! h264parse ! dxvadec ! fakesink sync=false')
    ran = rig.run(line, GST_TRACERS=f"dxva(file={nowhere})")
    tap.case(ran.status == 0 and f"dxva tracer: {nowhere}: No such file or directory" in ran.err,
             "GST_TRACERS with such a path warns, and the video plays", str(ran))
    ran = rig.run(f'cd "{folder}" && {line}', GST_TRACERS="dxva(file=)")
    tap.case(ran.status == 0 and "dxva tracer: " in ran.err, "and so does one that is not understood", str(ran))
    picture = folder / "settings.svg"
    for setting in "frames=many", "frames=0", "frames=100001", "fils=a.svg":
        ran = rig.run(line, GST_TRACERS=f"dxva(file={picture},{setting})")
        tap.case(ran.status == 0 and ran.err.count("dxva tracer: ") == 1 and f"not understood: {setting};" in ran.err and
                 "frames a number from 1 to 100000" in ran.err and picture.stat().st_size > 0,
                 f"{setting} is said once, with what it could be, and the rest holds", str(ran))
        picture.unlink()


def main() -> None:
    if not Path(rig.clip()).is_file():
        skip_all("no clip: ./dev test makes one")
    player = str(Path(sys.argv[1]).resolve())
    tap = Tap()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        clip = Clip(folder, player)
        if rig.name() == rig.STOCK:
            tap.skip("with export:every=7 exactly the frames that dxvadec copied stand out", "this OpenGL imports nothing")
        else:
            check_faults(tap, clip, folder)
        check_tracer(tap, clip, folder)
        check_kept(tap, clip, folder, player)
        check_errors(tap, clip, folder, player)
    tap.end()


if __name__ == "__main__":
    main()
