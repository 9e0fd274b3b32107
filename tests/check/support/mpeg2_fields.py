#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Writes an MPEG-2 video stream of field pictures, which none of the distribution's encoders makes: I, P and
B fields, both fields first, macroblocks in flat random colours or moved by one or two vectors per field, and
a frame picture now and then. `mpeg2_fields.py OUT`; the same stream each time. Clauses are of ISO/IEC
13818-2."""

import random
import sys

COLUMNS, ROWS = 11, 10  # macroblocks; of a field half the rows
TOP, BOTTOM, FRAME = 1, 2, 3
I, P, B = 1, 2, 3

# Tables B.12 and B.13: how many bits a DC difference has.
LUMA_SIZE = ["100", "00", "01", "101", "110", "1110", "11110", "111110", "1111110"]
CHROMA_SIZE = ["00", "01", "10", "110", "1110", "11110", "111110", "1111110", "11111110"]
# Table B.10 without the sign at the end.
MOTION = ["01", "001", "0001", "000011", "0000101", "0000100", "0000011", "000001011", "000001010", "000001001",
          "0000010001", "0000010000", "0000001111", "0000001110", "0000001101", "0000001100"]
REACH = 7  # half samples
INTRA = {I: "1", P: "00011", B: "00011"}  # tables B.2 to B.4: macroblock types
MOVED = {P: [("001", (0,))], B: [("0010", (0,)), ("010", (1,)), ("10", (0, 1))]}  # and forwards, backwards


class Writer:
    def __init__(self) -> None:
        self.stream = bytearray()
        self.bits = ""

    def put(self, value: int, count: int) -> None:
        self.bits += format(value, f"0{count}b")

    def code(self, bits: str) -> None:
        self.bits += bits

    def start(self, code: int) -> None:
        self.bits += "0" * (-len(self.bits) % 8)
        self.stream += int(self.bits or "0", 2).to_bytes(len(self.bits) // 8, "big")
        self.stream += bytes([0, 0, 1, code])
        self.bits = ""


def sequence(out: Writer) -> None:
    out.start(0xB3)
    for value, count in ((COLUMNS * 16, 12), (ROWS * 16, 12), (1, 4), (3, 4), (0x3FFFF, 18), (1, 1), (100, 10),
                         (0, 3)):
        out.put(value, count)
    out.start(0xB5)
    for value, count in ((1, 4), (0x44, 8), (0, 1), (1, 2), (0, 4), (0, 12), (1, 1), (0, 8), (0, 8)):
        out.put(value, count)


def picture(out: Writer, kind: int, structure: int, order: int, top_first: bool) -> None:
    out.start(0x00)
    out.put(order % 1024, 10)
    out.put(kind, 3)
    out.put(0xFFFF, 16)
    out.code({I: "", P: "0111", B: "01110111"}[kind] + "0")
    out.start(0xB5)
    out.put(8, 4)
    for _ in range(2):
        out.put(0xFF if kind == I else 0x11, 8)  # f_code: none, or vectors of 16 half samples
    out.put(0, 2)  # eight bits of DC
    out.put(structure, 2)
    # top_field_first (frames only), frame_pred_frame_dct, ..., progressive_frame, composite_display_flag
    out.code("1" if structure == FRAME and top_first else "0")
    out.code("1" if structure == FRAME else "0")
    out.code("00000000")


class Slice:
    def __init__(self, out: Writer, dice: random.Random, kind: int, structure: int, row: int,
                 selects: list[int]) -> None:
        self.out, self.dice, self.kind, self.structure, self.row = out, dice, kind, structure, row
        self.selects = selects
        self.rows = ROWS if structure == FRAME else ROWS // 2
        self.forget_colours()
        self.forget_vectors()

    def forget_colours(self) -> None:
        self.before = [128, 128, 128]

    def forget_vectors(self) -> None:
        self.predicted = {(half, direction): [0, 0] for half in (0, 1) for direction in (0, 1)}

    def block(self, component: int, value: int) -> None:
        difference = value - self.before[component]
        self.before[component] = value
        size = abs(difference).bit_length()
        self.out.code((CHROMA_SIZE if component else LUMA_SIZE)[size])
        if size:
            self.out.put(difference if difference > 0 else difference + (1 << size) - 1, size)
        self.out.code("10")  # end of block

    def vector(self, half: int, direction: int, place: tuple[int, int], height: int) -> None:
        """One that stays inside the picture: what decoders make of others depends on their threads."""
        predicted = self.predicted[half, direction]
        for axis, (at, size, length) in enumerate(((place[0], 16, COLUMNS * 16),
                                                   (place[1], height, self.rows * 16))):
            target = self.dice.randint(max(-REACH, -2 * at), min(REACH, 2 * (length - size - at)))
            difference = target - predicted[axis]
            predicted[axis] = target
            if difference == 0:
                self.out.code("1")
            else:
                self.out.code(MOTION[abs(difference) - 1] + ("0" if difference > 0 else "1"))

    def macroblock(self, column: int) -> None:
        self.out.code("1")  # the next one
        if self.kind == I or self.dice.random() < 0.3:
            self.out.code(INTRA[self.kind])
            for component in (0, 0, 0, 0, 1, 2):
                self.block(component, self.dice.randint(40, 200))
            self.forget_vectors()
            return
        bits, directions = self.dice.choice(MOVED[self.kind])
        self.out.code(bits)
        halves = 1
        if self.structure != FRAME:
            halves = self.dice.choice((1, 2))
            self.out.put(halves, 2)  # field_motion_type: one vector, or one for each 16x8
        for direction in directions:
            for half in range(halves):
                if self.structure != FRAME:
                    self.out.put(self.dice.choice(self.selects), 1)
                self.vector(half, direction, (column * 16, self.row * 16 + 8 * half), 16 // halves)
            if halves == 1:
                self.predicted[1, direction] = list(self.predicted[0, direction])
        self.forget_colours()


def coded_picture(out: Writer, dice: random.Random, kind: int, structure: int, order: int, top_first: bool,
                  selects: list[int]) -> None:
    picture(out, kind, structure, order, top_first)
    for row in range(ROWS if structure == FRAME else ROWS // 2):
        out.start(row + 1)
        out.put(8, 5)  # quantiser_scale_code
        out.code("0")
        coded = Slice(out, dice, kind, structure, row, selects)
        for column in range(COLUMNS):
            coded.macroblock(column)


def main() -> None:
    dice = random.Random(13818)
    out = Writer()
    sequence(out)
    shown = 0
    for group in range(6):
        if group in (0, 3):
            sequence(out)
            out.start(0xB8)
            out.code("0" * 12 + "1" + "0" * 12 + "10")  # a closed group
            shown, kinds = 0, [(I, 0)]
        else:
            kinds = [(P, 2), (B, 0), (B, 1)]
        for kind, order in kinds:
            top_first = (group + order) % 2 == 0
            if group == 2 and kind == B and order == 1:
                coded_picture(out, dice, B, FRAME, shown + order, top_first, [])
                continue
            one, other = (TOP, BOTTOM) if top_first else (BOTTOM, TOP)
            coded_picture(out, dice, kind, one, shown + order, top_first, [0, 1])
            # The second field of an I picture may refer to the first one, and to nothing else.
            coded_picture(out, dice, P if kind == I else kind, other, shown + order, top_first,
                          [one - 1] if kind == I else [0, 1])
        shown += len(kinds)
    out.start(0xB7)
    with open(sys.argv[1], "wb") as file:
        file.write(out.stream)


if __name__ == "__main__":
    main()
