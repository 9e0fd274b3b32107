# SPDX-License-Identifier: LGPL-2.1-or-later
"""What decoding costs: dxvadec against gst-va and ffmpeg's VA-API decoder, on the same driver and clip.

All only decode, once with frames left in their surfaces and once with every frame copied to system memory. The driver
is the bundled one where there is no GPU, so the figures compare what the clients add around it.
"""

import clips
from peers import ffmpeg, gst_va
from plan import Plan
from report import Report, Verdict
from ways import Way, in_turns, outside_counts

MORE_ROUNDS = 3  # half of the rounds' ratios lie within 5 %, and what is to be seen is 1 %


def run(plan: Plan) -> Report:
    clip = clips.h264(plan, "1080p")
    width, height = plan.size("1080p")
    source = f"filesrc location={clip} ! qtdemux ! h264parse"
    # A consumer that knows padding: with one that does not, everybody would copy.
    ours, ours_copied = (Way(f"dxvadec, {name}", f"{source} ! dxvadec {rest}") for name, rest in (
        ("surfaces", "! video/x-raw(memory:DMABuf)"), ("copied", "zero-copy=off ! video/x-raw")))
    theirs, theirs_copied = (Way(f"vah264dec, {name}", f"{source} ! vah264dec ! {caps}", gst_va(plan))
                             for name, caps in (("surfaces", "video/x-raw(memory:VAMemory)"),
                                                ("copied", "video/x-raw,format=NV12")))
    program, program_copied = (ffmpeg(plan, f"ffmpeg -hwaccel vaapi, {name}", clip, *output) for name, output in (
        ("surfaces", ["-hwaccel_output_format", "vaapi"]), ("copied", [])))
    ways = [ours, theirs, program, ours_copied, theirs_copied, program_copied]

    warm_up, frames = plan.window("1080p")
    rounds = plan.rounds * MORE_ROUNDS
    runs = in_turns(plan, ways, warm_up, frames, "decode", rounds=rounds)
    report = Report(f"H.264 {width}x{height}, {frames - warm_up} frames behind {warm_up}, medians of {rounds}",
                    "CPU ms/frame")
    report.figures = [(way.name, runs.median(way.name)) for way in ways]
    report.verdicts = [
        Verdict("dxvadec / ffmpeg, surfaces", runs.ratio(ours.name, program.name), 1.05),
        Verdict("dxvadec / vah264dec, surfaces", runs.ratio(ours.name, theirs.name), 1.00),
        Verdict("dxvadec / ffmpeg, copied", runs.ratio(ours_copied.name, program_copied.name), 1.05),
        Verdict("dxvadec / vah264dec, copied", runs.ratio(ours_copied.name, theirs_copied.name), 1.00),
    ]
    report.counts = outside_counts(plan, ways, runs, width * height * 3 // 2, warm_up, "decode")
    report.notes = [*(f"{a.name} / {b.name}: {runs.middle_half(a.name, b.name)}"
                      for a, b in ((ours, theirs), (ours_copied, theirs_copied))),
                    *runs.failed.values(), "what libavcodec copies is the driver's here, also in ffmpeg"]
    return report
