# SPDX-License-Identifier: LGPL-2.1-or-later
"""The table: what the driver does, and how every picture must leave dxvadec then, with layout=any and
with tight-linear: as a surface (exported), copied (cpu-copy), or decoded by the CPU (software).

An expectation is a function that gets a Run and says what is wrong with it, or nothing.
"""

from collections.abc import Callable
from dataclasses import dataclass

from faults_play import FRAMES, Run

Expectation = Callable[[Run], str]


def what_was(run: Run) -> str:
    return f"pictures left as {dict(run.ways)} because of {dict(run.whys)}, messages {run.path_changes}"


def all_on(way: str, reason: str = "none") -> Expectation:
    """Every picture left that way for that reason, and there is nothing to tell."""

    def check(run: Run) -> str:
        same = {(picture_way, why) for _, picture_way, why in run.pictures} == {(way, reason)}
        return "" if same and not run.changes_of("dxvadec") else what_was(run)

    return check


def then(first: str, second: str, reason: str, at: int | None = None, before: str = "none") -> Expectation:
    """The stream leaves its first way for good (after `at` pictures), and says so once."""

    def check(run: Run) -> str:
        count = run.ways[first]
        order = [(first, before)] * count + [(second, reason)] * (FRAMES - count)
        if [(way, why) for _, way, why in run.pictures] != order or not 0 < count < FRAMES or \
                (at is not None and count != at) or \
                run.changes_of("dxvadec") != [f"dxvadec: {first} > {second}, {reason}"]:
            return what_was(run)
        return ""

    return check


def detiled(after: int = 0) -> Expectation:
    """From then on every picture is copied for its layout, by the device or by the CPU: which of them is a
    matter of time."""

    def check(run: Run) -> str:
        ways = [(way, why) for _, way, why in run.pictures]
        rest = {(way, "modifier-not-linear") for way in ("gpu-copy", "cpu-copy")}
        right = ways[:after] == [("exported", "none")] * after and set(ways[after:]) <= rest and \
            run.ways["gpu-copy"] > 0
        return "" if right else what_was(run)

    return check


def copies_of_failed_exports(only_surface: int = 0) -> Expectation:
    """A picture is copied if and only if the last export of its surface failed."""
    there, back = "dxvadec: exported > cpu-copy, export-failed", "dxvadec: cpu-copy > exported, none"

    def check(run: Run) -> str:
        # Of surfaces that the CPU reads few are in use: the others may never be exported, nor come again.
        few = "import-copy-forced" in run.reasons
        if few and not any(failed for call, _, failed in run.calls if call == "export"):
            return all_on("exported")(run)
        if set(run.ways) != {"exported", "cpu-copy"} or run.whys != {"export-failed": run.ways["cpu-copy"]} or \
                run.changes_of("dxvadec") not in ([[there], [there, back]] if few else [[there]]):
            return what_was(run)
        calls: dict[int, list[bool]] = {}
        for call, surface, failed in run.calls:
            if call == "export":
                calls.setdefault(surface, []).append(failed)
        refused: set[int] = set()
        for index, (surface, way, _) in enumerate(run.pictures):
            left = calls.get(surface, [])
            if way == "cpu-copy":
                if left and left[0]:
                    left.pop(0)
                    refused.add(surface)
                elif surface not in refused:
                    return f"picture {index} was copied, and surface {surface} never failed"
            else:
                if left and not left[0]:
                    left.pop(0)
                    refused.discard(surface)
                if surface in refused:
                    return f"picture {index} left as surface {surface}, whose export failed"
            if only_surface and (way == "cpu-copy") != (surface == only_surface):
                return f"picture {index} of surface {surface} left as {way}"
        failures = [surface for surface, left in calls.items() if any(left)]
        return f"exports of {failures} failed and no picture was copied" if failures else ""

    return check


def first_surface_copied(run: Run) -> str:
    """Only pictures on surface 1 failed; those after the first wait for the caps to come back."""
    first, last = run.pictures[0], run.pictures[-1][1:]
    exported = {surface for surface, way, _ in run.pictures if way == "exported"}
    good = first == (1, "cpu-copy", "export-failed") and last == ("exported", "none") and 1 not in exported
    return "" if good and set(run.whys) == {"export-failed"} else what_was(run)


def came_back(run: Run) -> str:
    """Copied at first, on the fast way in the end."""
    first, last = run.pictures[0][1:], run.pictures[-1][1:]
    good = first == ("cpu-copy", "export-failed") and last == ("exported", "none")
    return "" if good and len(run.changes_of("dxvadec")) <= 1 else what_was(run)


@dataclass
class Row:
    name: str
    environment: dict[str, str]
    any: Expectation
    tight: Expectation


def same(name: str, expected: Expectation, **environment: str) -> Row:
    """A row whose two layout rules agree."""
    return Row(name, {f"DXVASOFT_{key}": value for key, value in environment.items()}, expected, expected)


def layout(name: str, reason: str) -> Row:
    """Imported by whoever takes any layout; tight-linear refuses it."""
    return Row(f"layout {name}", {"DXVASOFT_LAYOUT": name}, all_on("exported"), all_on("cpu-copy", reason))


def fault(rules: str, expected: Expectation, **more: str) -> Row:
    return same(f"fault {rules}", expected, FAULT=rules, **more)


ROWS = [
    same("a driver without faults", all_on("exported")),

    layout("padded", "chroma-not-adjacent"),
    layout("gap", "chroma-not-adjacent"),
    layout("two-objects", "objects-differ"),
    same("layout dup-fds", all_on("exported"), LAYOUT="dup-fds"),
    same("layout composed", all_on("exported"), LAYOUT="composed"),
    same("layout odd-pitch", all_on("exported"), LAYOUT="odd-pitch"),
    same("pitches of 4096", all_on("exported"), PITCH_ALIGN="4096"),
    # Asked for linear surfaces, the driver makes some; it need not.
    same("layout tiled", all_on("exported"), LAYOUT="tiled"),
    *[same(f"layout tiled, lists of modifiers {what}", all_on("cpu-copy", "modifier-not-linear"),
           LAYOUT="tiled", MODIFIERS=what) for what in ("ignored", "refused", "unlisted")],
    same("tiled from export 5 on", detiled(after=4), LAYOUT="tiled", TILED_FROM="5", MODIFIERS="not-decoded"),
    same("tiled from export 5 on, and nothing copies", then("exported", "cpu-copy", "modifier-not-linear", at=4),
         LAYOUT="tiled", TILED_FROM="5", FAULT="vpp:from=1,copy:from=1"),
    same("a decoder of tiles", detiled(), LAYOUT="tiled", MODIFIERS="not-decoded"),
    same("a decoder of tiles, vaCopy alone works", detiled(), LAYOUT="tiled", MODIFIERS="not-decoded",
         FAULT="vpp:from=1"),
    same("a decoder of tiles, vpp fails later", detiled(), LAYOUT="tiled", MODIFIERS="not-decoded",
         FAULT="vpp:at=5"),
    same("a decoder of tiles, and nothing copies", all_on("cpu-copy", "modifier-not-linear"),
         LAYOUT="tiled", MODIFIERS="not-decoded", FAULT="vpp:from=1,copy:from=1"),
    same("a decoder of tiles, all copying ends", detiled(), LAYOUT="tiled", MODIFIERS="not-decoded",
         FAULT="vpp:at=5,copy:from=9"),
    same("descriptors without sizes", all_on("exported"), DESCRIPTOR_SIZE="0"),
    same("descriptors with half the size", all_on("exported"), DESCRIPTOR_SIZE="short"),
    same("descriptors without a modifier", all_on("cpu-copy", "modifier-not-linear"),
         DESCRIPTOR_MODIFIER="none"),

    same("surfaces in memfds", all_on("exported"), MEMORY="memfd"),
    same("another vendor's name", all_on("exported"), VENDOR="Mesa Gallium driver 99.9"),
    same("pictures that come late", all_on("exported"), LATE_MS="10"),
    same("late pictures that are copied", all_on("cpu-copy", "export-failed"),
         LATE_MS="10", FAULT="export:from=1"),

    fault("export:every=7", copies_of_failed_exports()),
    *[fault(f"export:surface={number}", copies_of_failed_exports(only_surface=number))
      for number in (3, 5, 7, 9)],
    # The first picture's, so the stream begins with a copy.
    fault("export:surface=1", first_surface_copied),
    fault("export:at=30", copies_of_failed_exports()),
    fault("export:from=1", all_on("cpu-copy", "export-failed")),
    fault("export:from=2", then("exported", "cpu-copy", "export-failed", at=1)),
    fault("export:at=1", came_back),

    fault("deriveimage:from=1", all_on("exported")),
    fault("export:from=1,deriveimage:from=1", all_on("cpu-copy", "export-failed")),
    fault("export:from=1,getimage:from=1", all_on("cpu-copy", "export-failed")),
    same("layout tiled, fault getimage:at=9", then("cpu-copy", "software", "read-back-failed", at=8, before="modifier-not-linear"),
         LAYOUT="tiled", MODIFIERS="ignored", FAULT="getimage:at=9"),
    fault("export:from=1,deriveimage:from=1,getimage:from=1", all_on("software", "read-back-failed")),

    fault("sync:at=40", then("exported", "software", "sync-failed")),
    fault("sync:from=40", then("exported", "software", "sync-failed")),
    fault("sync:surface=4", then("exported", "software", "sync-failed")),
    fault("endpicture:at=40", then("exported", "software", "decode-errors")),
    fault("endpicture:from=40", then("exported", "software", "decode-errors")),
    fault("endpicture:surface=5", then("exported", "software", "decode-errors")),
    fault("endpicture:from=1", all_on("software", "decode-errors")),
    fault("beginpicture:from=30", then("exported", "software", "decode-errors")),
    fault("renderpicture:at=30", then("exported", "software", "decode-errors")),
    # libavcodec hides such a failure where it was for a slice.
    fault("createbuffer:at=101", then("exported", "software", "decode-errors")),
    fault("createbuffer:at=102", then("exported", "software", "decode-errors")),
    fault("createbuffer:from=100", then("exported", "software", "decode-errors")),
    fault("export:from=1,deriveimage:from=1,createimage:from=1", all_on("software", "read-back-failed")),
    fault("createcontext:from=1", all_on("software", "context-not-made")),
    # libavcodec asks for two configs; only the second is the decoder's.
    fault("createconfig:from=1", all_on("software", "context-not-made")),
    fault("createsurfaces:from=1", all_on("software", "surfaces-not-made")),
    fault("createsurfaces:surface=5", all_on("software", "surfaces-not-made")),
]

# The same with ten bits (H.265 Main 10 on P010 surfaces), where the depth could matter.
TEN_BIT_ROWS = [row for row in ROWS if row.name.startswith(("a driver without", "layout ")) or row.name in (
    "descriptors without sizes", "pitches of 4096", "fault export:every=7", "fault export:surface=3",
    "fault export:from=1", "fault deriveimage:from=1", "fault export:from=1,deriveimage:from=1",
    "fault endpicture:from=1", "fault createsurfaces:from=1")]
