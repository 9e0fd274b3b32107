# SPDX-License-Identifier: LGPL-2.1-or-later
"""When the first frame is in OpenGL, after the process was started: ours, gst-va and software.

Wall-clock time, in turns, with registries that are there already; CPU time until then is given beside it, since other
work on the machine delays everybody.
"""

import clips
import peers
from plan import Plan
from report import Report, Verdict
from ways import Way, in_turns

SIZES = ("352p", "1080p")
MORE_ROUNDS = 3  # a start is short


def first_ms(run: dict) -> float:
    return run["first_frame_ns"] / 1e6


def first_cpu_ms(run: dict) -> float:
    return run["first_frame_cpu_ns"] / 1e6


def run(plan: Plan) -> Report:
    rounds = plan.rounds * MORE_ROUNDS
    report = Report(f"from the start of the process to the first frame in a texture, medians of {rounds}", "ms")
    for size in SIZES:
        source = f"filesrc location={clips.h264(plan, size)} ! qtdemux ! h264parse"

        def play(name: str, line: str, environment=None) -> Way:
            return Way(f"{size} {name}", f"{source} ! {line} ! video/x-raw(memory:GLMemory)", environment or {},
                       map_in_gl=True)

        ours = play("dxvadec ! dxvaglupload", "dxvadec ! dxvaglupload")
        theirs = [play("vah264dec ! glupload", "vah264dec ! glupload", peers.gst_va(plan)),
                  play("avdec_h264 ! glupload, one thread", "avdec_h264 max-threads=1 ! glupload"),
                  play("avdec_h264 ! glupload", "avdec_h264 ! glupload")]
        runs = in_turns(plan, [ours, *theirs], 0, 1, f"startup {size}", rounds=rounds)
        for way in [ours, *theirs]:
            report.figures += [(way.name, runs.median(way.name, first_ms)),
                               (f"{way.name}, CPU", runs.median(way.name, first_cpu_ms))]
        best = min((way for way in theirs if runs.of.get(way.name)),
                   key=lambda way: runs.median(way.name, first_ms), default=None)
        if best:
            report.verdicts += [
                Verdict(f"{size} ours / the best of them ({best.name.removeprefix(size + ' ')})",
                        runs.ratio(ours.name, best.name, first_ms), 1.0),
                Verdict(f"{size} the same in CPU time", runs.ratio(ours.name, best.name, first_cpu_ms))]
        report.verdicts.append(Verdict(f"{size} ours / vah264dec ! glupload",
                                       runs.ratio(ours.name, theirs[0].name, first_ms)))
        report.notes += runs.failed.values()
    return report
