#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""playbin and playbin3 on MPEG-2 and VP9 in every container that holds them: dxvadec is taken unasked and
every picture arrives. What dxvadec must leave to others, VP8 and VP9 with an alpha channel, it leaves."""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

import rig  # noqa: E402
from tap import Tap  # noqa: E402

FRAMES = 24
MPEG2 = ["-c:v", "mpeg2video", "-qscale:v", "4", "-bf", "2", "-g", "12", "-pix_fmt", "yuv420p"]
VP9 = ["-c:v", "libvpx-vp9", "-deadline", "realtime", "-cpu-used", "8", "-pix_fmt", "yuv420p"]
# Hidden pictures too: more packets' frames than pictures.
STREAMS = {
    "mpeg2.mkv": MPEG2, "mpeg2.mp4": MPEG2, "mpeg2.ts": MPEG2, "mpeg2.mpg": [*MPEG2, "-f", "vob"],
    "vp9.mkv": VP9, "vp9.webm": VP9, "vp9.mp4": VP9,
    "hidden.webm": ["-c:v", "libvpx-vp9", "-deadline", "good", "-cpu-used", "5", "-auto-alt-ref", "6",
                    "-lag-in-frames", "25", "-pix_fmt", "yuv420p"],
}
ALPHA = {"vp8": "libvpx", "vp9": "libvpx-vp9"}


def make(out: Path, picture: str, options: list[str]) -> None:
    subprocess.run(["ffmpeg", "-nostdin", "-v", "error", "-y", "-f", "lavfi", "-i",
                    f"testsrc2=s=176x144:r=25{picture}", "-frames:v", str(FRAMES), *options, str(out)],
                   check=True, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=rig.SECONDS)


def play(playbin: str, media: Path) -> rig.Ran:
    return rig.run(["gst-launch-1.0", "-v", playbin, f"uri={media.as_uri()}",
                    "video-sink=dxvaglupload ! fakesink name=end silent=false"])


def pictures(ran: rig.Ran) -> int:
    return len(re.findall(r"end: last-message = chain", ran.out))


def whole_files(tap: Tap, folder: Path) -> None:
    for name, options in STREAMS.items():
        media = folder / name
        try:
            make(media, "", options)
        except (subprocess.SubprocessError, OSError) as error:
            tap.skip(name, f"cannot be made: {str(error).splitlines()[0][:100]}")
            continue
        for playbin in ("playbin", "playbin3"):
            ran = play(playbin, media)
            tap.case(ran.status == 0 and "GstDxvaDec" in ran.out and pictures(ran) == FRAMES,
                     f"{playbin} takes dxvadec for {name} and shows every picture",
                     f"{pictures(ran)} pictures; {str(ran)[-2000:]}")


def alpha(tap: Tap, folder: Path) -> None:
    for codec, encoder in ALPHA.items():
        media = folder / f"alpha-{codec}.webm"
        try:
            make(media, ",format=yuva420p,colorchannelmixer=aa=0.5",
                 ["-c:v", encoder, "-pix_fmt", "yuva420p", "-auto-alt-ref", "0", "-deadline", "realtime"])
        except (subprocess.SubprocessError, OSError) as error:
            tap.skip(f"{codec} with alpha", f"cannot be made: {str(error).splitlines()[0][:100]}")
            continue
        # A sink that is awaited lets gst-launch 1.22 miss errors that come before the first picture.
        parser = "vp9parse !" if codec == "vp9" else ""
        ran = rig.run(f'gst-launch-1.0 filesrc location="{media}" ! matroskademux ! {parser} dxvadec ! fakesink async=false')
        tap.case(ran.status == 1 and "has an alpha channel" in ran.err,
                 f"dxvadec refuses {codec} with alpha and says why", str(ran)[-2000:])
        wrapper = f"{codec}alphadecodebin"
        for playbin in ("playbin", "playbin3"):
            what = f"{playbin} takes {wrapper} for {codec} with alpha"
            if rig.run(["gst-inspect-1.0", "--exists", wrapper]).status != 0:
                tap.skip(what, f"{wrapper} is not installed")
                continue
            ran = play(playbin, media)
            tap.case(ran.status == 0 and wrapper in ran.out and "GstDxvaDec" not in ran.out and
                     "format=(string)A420" in ran.out and pictures(ran) == FRAMES, what,
                     f"{pictures(ran)} pictures; {str(ran)[-2000:]}")


def main() -> None:
    tap = Tap()
    with tempfile.TemporaryDirectory() as folder:
        whole_files(tap, Path(folder))
        alpha(tap, Path(folder))
    tap.end()


if __name__ == "__main__":
    main()
