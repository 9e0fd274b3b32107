# SPDX-License-Identifier: LGPL-2.1-or-later
"""From the file to the texture: everything that a frame costs, ours beside the pipelines that people use today.

ffmpeg has no OpenGL; its rows end in surfaces, or in system memory.
"""

import clips
import peers
from plan import Plan
from report import Report, Verdict
from ways import Way, cpu_ms, in_turns, outside_counts

SIZE = "1080p"


def run(plan: Plan) -> Report:
    clip = clips.h264(plan, SIZE)
    width, height = plan.size(SIZE)
    va = peers.gst_va(plan)

    def play(name: str, environment=None) -> Way:
        return Way(name, f"filesrc location={clip} ! qtdemux ! h264parse ! {name} ! video/x-raw(memory:GLMemory)",
                   environment or {}, map_in_gl=True)

    ours = play("dxvadec ! dxvaglupload")
    ours_copied = play("dxvadec zero-copy=off ! dxvaglupload")
    ours_software = play("avdec_h264 max-threads=1 ! dxvaglupload")
    theirs = [play("vah264dec ! glupload", va), play("vah264dec ! video/x-raw,format=NV12 ! glupload", va),
              play("vaapih264dec ! glupload"), play("avdec_h264 max-threads=1 ! glupload")]
    programs = [peers.ffmpeg(plan, "ffmpeg -hwaccel vaapi, surfaces", clip, "-hwaccel_output_format", "vaapi"),
                peers.ffmpeg(plan, "ffmpeg -hwaccel vaapi, copied", clip)]
    ways = [ours, ours_copied, ours_software, *theirs, *programs]

    warm_up, frames = plan.window(SIZE)
    runs = in_turns(plan, ways, warm_up, frames, "pipeline")
    report = Report(f"H.264 {width}x{height}, file to texture, {frames - warm_up} frames behind {warm_up}, "
                    f"medians of {plan.rounds}", "CPU ms/frame")
    report.figures = [(way.name, runs.median(way.name)) for way in ways if way.name not in runs.failed]
    report.verdicts = [Verdict(f"dxvadec ! dxvaglupload / {way.name}", runs.ratio(ours.name, way.name, cpu_ms))
                       for way in [*theirs, *programs] if way.name not in runs.failed]
    report.verdicts.append(Verdict("avdec_h264 ! dxvaglupload / avdec_h264 ! glupload",
                                   runs.ratio(ours_software.name, theirs[-1].name)))
    report.counts = outside_counts(plan, ways, runs, width * height * 3 // 2, warm_up, "pipeline")
    report.notes = list(runs.failed.values())
    return report
