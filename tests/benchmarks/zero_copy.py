# SPDX-License-Identifier: LGPL-2.1-or-later
"""What bringing a decoded frame into OpenGL textures costs, without a copy and with one.

Two figures for each way. *Added*: the process's CPU time with the upload less that of decoding alone, in the same round.
*Behind the decoder*: what is spent between the uploader's sink pad and the frame given back, on all threads, from inside
the process; decoding's own ups and downs are not in it. GstGL uploads lazily, so each frame is mapped for OpenGL, once,
on its thread.

*dxvaglupload itself*: what is spent behind the decoder, less what is spent there without dxvaglupload, where the consumer
goes to the GL thread as often and maps the textures of another picture: the clock, the filter of caps, the sink, the
surface given back and what GstGL does are in both. A second figure is that of a consumer who never maps. *Added, less
the consumer's trip*, is the same difference of the whole process: what dxvaglupload does to the decoder's caches is in
it, what the consumer's own trip does is not.
"""

import clips
import peers
from plan import Plan
from report import Report, Verdict
from ways import Way, behind_ms, in_turns, outside_counts

ADDED_MS = 0.1
ELEMENT_US = 20
OF_THE_PEERS = 0.6
# What is added to 1080p is a tenth of decoding, which itself differs by that from run to run; rounds are short there.
ROUNDS = {"1080p": 3}  # times those of the plan


def run(plan: Plan) -> Report:
    report = Report("", "CPU ms/frame")
    parts = []
    for size in plan.sizes:
        parts.append(_measure(plan, size, report))
    report.what = f"H.264 into textures, medians: {'; '.join(parts)}"
    return report


def _measure(plan: Plan, size: str, report: Report) -> str:
    width, height = plan.size(size)
    source = f"filesrc location={clips.h264(plan, size)} ! qtdemux ! h264parse"
    va = peers.gst_va(plan)

    def into_gl(name: str, decoder: str, uploader: str, environment=None, map_in_gl=True) -> Way:
        return Way(f"{size} {name}", f"{source} ! {decoder} ! {uploader} name=up ! video/x-raw(memory:GLMemory)",
                   environment or {}, watch="up", map_in_gl=map_in_gl)

    ours = into_gl("dxvadec ! dxvaglupload", "dxvadec", "dxvaglupload")
    bare = into_gl("dxvadec ! dxvaglupload, not mapped", "dxvadec", "dxvaglupload", map_in_gl=False)
    without = f"{source} ! dxvadec ! capsfilter name=up caps=video/x-raw(memory:DMABuf)"
    nothing = Way(f"{size} dxvadec, nothing in dxvaglupload's place, mapped", without, watch="up", map_stand_in=True)
    bare_nothing = Way(f"{size} dxvadec, nothing in dxvaglupload's place", without, watch="up")
    stranger = into_gl("dxvadec ! glupload", "dxvadec ! video/x-raw(memory:DMABuf)", "glupload")
    theirs = into_gl("vah264dec ! glupload", "vah264dec", "glupload", va)
    # Whose OpenGL imports nothing, whose driver exports nothing, and who is told to copy.
    ours_mapped = into_gl("dxvadec ! dxvaglupload import=copy", "dxvadec", "dxvaglupload import=copy")
    ours_unexported = into_gl("dxvadec without exports ! dxvaglupload", "dxvadec", "dxvaglupload",
                              {"DXVASOFT_FAULT": "export:from=1"})
    ours_copied = into_gl("dxvadec zero-copy=off ! dxvaglupload", "dxvadec zero-copy=off", "dxvaglupload")
    theirs_copied = into_gl("vah264dec, system memory ! glupload", "vah264dec ! video/x-raw,format=NV12", "glupload", va)
    ours_base = Way(f"{size} dxvadec alone", f"{source} ! dxvadec ! video/x-raw(memory:DMABuf)")
    theirs_base = Way(f"{size} vah264dec alone", f"{source} ! vah264dec ! video/x-raw(memory:VAMemory)", va)
    base = {ours: ours_base, stranger: ours_base, theirs: theirs_base, ours_mapped: ours_base,
            ours_unexported: ours_base, ours_copied: ours_base, theirs_copied: theirs_base}
    zero_copy = [nothing, ours, bare_nothing, bare, stranger, theirs] if peers.imports() else []
    # A GPU's driver cannot be told to export nothing.
    copied = [ours_mapped, *([] if peers.on_gpu() else [ours_unexported]), ours_copied, theirs_copied]

    warm_up, frames = plan.window(size)
    rounds = plan.rounds * ROUNDS.get(size, 1)
    runs = in_turns(plan, [ours_base, theirs_base, *zero_copy, *copied], warm_up, frames, f"zero-copy {size}",
                    rounds=rounds)
    added, behind = {}, {}
    for way in [*zero_copy, *copied]:
        behind[way] = runs.median(way.name, behind_ms)
        if way in base:
            added[way] = runs.added(way.name, base[way].name)
            report.figures.append((f"{way.name}: added", added[way]))
            report.notes.append(f"{way.name}: added {runs.spread(way.name, base[way].name)}")
        report.figures.append((f"{way.name}: behind the decoder", behind[way]))
    report.figures += [(way.name, runs.median(way.name)) for way in (ours_base, theirs_base)]

    element = runs.added(ours.name, nothing.name, behind_ms)
    unmapped = runs.added(bare.name, bare_nothing.name, behind_ms)
    report.verdicts += [
        Verdict(f"{size} zero-copy, added", added.get(ours), ADDED_MS, "ms/frame"),
        Verdict(f"{size} zero-copy, added, less the consumer's trip", runs.added(ours.name, nothing.name), ADDED_MS,
                "ms/frame"),
        Verdict(f"{size} zero-copy, dxvaglupload itself", _microseconds(element), ELEMENT_US, "us/frame"),
        Verdict(f"{size} zero-copy, dxvaglupload itself, nobody maps", _microseconds(unmapped), None, "us/frame"),
        Verdict(f"{size} zero-copy, ours / vah264dec ! glupload, behind the decoder",
                runs.ratio(ours.name, theirs.name, behind_ms)),
        Verdict(f"{size} zero-copy, ours / dxvadec ! glupload, behind the decoder",
                runs.ratio(ours.name, stranger.name, behind_ms)),
        *(Verdict(f"{size} {name}, ours / vah264dec ! glupload, added",
                  _quotient(added.get(way), added.get(theirs_copied)), OF_THE_PEERS)
          for way, name in ((ours_mapped, "not imported"), (ours_unexported, "not exported"))),
        Verdict(f"{size} copied when told to, ours / vah264dec ! glupload, added",
                _quotient(added.get(ours_copied), added.get(theirs_copied))),
    ]
    report.counts |= outside_counts(plan, [*zero_copy, *copied], runs, width * height * 3 // 2, warm_up,
                                    f"zero-copy {size}")
    report.notes += runs.failed.values()
    if not zero_copy:
        report.notes.append("OpenGL imports nothing on this rig")
    for way in (stranger, theirs):
        if runs.of.get(way.name) and "DMABuf" not in runs.of[way.name][0]["caps_before"]:
            report.notes.append(f"{way.name} has not negotiated dma-bufs: {runs.of[way.name][0]['caps_before']}")
    return f"{width}x{height}, {frames - warm_up} frames behind {warm_up}, {rounds} rounds"


def _microseconds(ms: float | None) -> float | None:
    return None if ms is None else ms * 1000


def _quotient(ours: float | None, theirs: float | None) -> float | None:
    return None if ours is None or not theirs else ours / theirs
