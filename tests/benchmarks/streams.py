# SPDX-License-Identifier: LGPL-2.1-or-later
"""Many streams at once in one process: what each costs, and how many VADisplays there are.

All have had their warm-up before the first frame that counts, and all play the same number of frames.
"""

import clips
import peers
import progress
from plan import Plan
from report import Report, Verdict
from ways import Way, cpu_ms, in_turns, outside_library

SIZE = "720p"
FRAMES = 120
OF_ONE_STREAM = 1.1


def run(plan: Plan) -> Report:
    clip = clips.h264(plan, SIZE)
    width, height = plan.size(SIZE)
    warm_up = plan.window(SIZE)[0]
    frames = warm_up + max(10, int(FRAMES * plan.scale))
    source = f"filesrc location={clip} ! qtdemux ! h264parse"
    into_gl = "video/x-raw(memory:GLMemory)"
    ways = [Way("dxvadec ! dxvaglupload", f"{source} ! dxvadec ! dxvaglupload ! {into_gl}", map_in_gl=True),
            Way("vah264dec ! glupload", f"{source} ! vah264dec ! glupload ! {into_gl}", peers.gst_va(plan),
                map_in_gl=True)]
    ours, theirs = ways

    report = Report(f"H.264 {width}x{height} into textures, {frames - warm_up} frames a stream behind {warm_up}, "
                    f"medians of {plan.rounds}", "CPU ms/frame")
    by_count = {count: in_turns(plan, ways, warm_up, frames, f"streams {count}", streams=count)
                for count in plan.streams}
    first = by_count[plan.streams[0]]
    for way in ways:
        report.figures += [(f"{way.name}, {count} at once", runs.median(way.name)) for count, runs in by_count.items()]
    for count in plan.streams[1:]:
        for way in ways:
            many = by_count[count].median(way.name)
            one = first.median(way.name)
            report.verdicts.append(Verdict(f"{way.name}, a frame of {count} streams / of one",
                                           many / one if many and one else None,
                                           OF_ONE_STREAM if way is ours and count == plan.streams[-1] else None))
    for count in plan.streams[1:]:
        report.verdicts.append(Verdict(f"ours / vah264dec ! glupload, {count} at once",
                                       by_count[count].ratio(ours.name, theirs.name, cpu_ms)))
    for way in ways:
        if way.name not in first.failed:
            progress.tell(f"streams: {way.name} counted from outside")
            counted = way.run(plan, 5, 10, plan.streams[-1], LD_PRELOAD=outside_library(plan, way))
            report.verdicts += [
                Verdict(f"{way.name}, VADisplays of {plan.streams[-1]} streams", counted["driver_starts"],
                        1 if way is ours else None, "displays"),
                Verdict(f"{way.name}, descriptors of {plan.streams[-1]} streams", counted["descriptors"],
                        unit="descriptors")]
    report.notes = sorted({reason for runs in by_count.values() for reason in runs.failed.values()})
    return report
