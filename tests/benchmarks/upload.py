# SPDX-License-Identifier: LGPL-2.1-or-later
"""What it costs to bring pictures from system memory into textures: dxvaglupload against glupload.

The pictures are there already and take turns, so nothing but the upload is in the figures: CPU time of the whole
process, less that of the same pipeline without an uploader.
"""

from plan import Plan
from report import Report, Verdict
from ways import Way, in_turns, outside_counts

FORMATS = {"NV12": 1, "P010_10LE": 2}  # bytes of a sample


def run(plan: Plan) -> Report:
    report = Report("", "CPU ms/frame added")
    for size in plan.sizes:
        for pixel_format in FORMATS:
            _measure(plan, size, pixel_format, report)
    report.what = f"pictures in system memory into textures, medians of {plan.rounds}"
    return report


def _measure(plan: Plan, size: str, pixel_format: str, report: Report) -> None:
    width, height = plan.size(size)
    caps = f"video/x-raw,format={pixel_format},width={width},height={height},framerate=30/1"
    label = f"{size} {pixel_format}"

    def uploader(name: str) -> Way:
        return Way(f"{label} {name}", f"{name} name=up ! video/x-raw(memory:GLMemory)", watch="up", map_in_gl=True,
                   feed=caps)

    ours, theirs = uploader("dxvaglupload"), uploader("glupload")
    base = Way(f"{label} nothing", "identity", feed=caps)
    warm_up, frames = plan.window(size)
    runs = in_turns(plan, [base, ours, theirs], warm_up, frames, f"upload {label}")
    added = {way: runs.added(way.name, base.name) for way in (ours, theirs)}
    report.figures += [(way.name, value) for way, value in added.items()]
    quotient = added[ours] / added[theirs] if added[ours] is not None and added[theirs] else None
    report.verdicts.append(Verdict(f"{label} dxvaglupload / glupload", quotient))
    frame_bytes = width * height * 3 // 2 * FORMATS[pixel_format]
    report.counts |= outside_counts(plan, [ours, theirs], runs, frame_bytes, warm_up, f"upload {label}")
    report.notes += runs.failed.values()
