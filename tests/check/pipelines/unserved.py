#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Streams that are right and rare: JPEG of four components (CMYK), H.264 with slice groups (FMO). They play, or the error
says what they are and what to do.

unserved.py DXVA_PLAY"""

import hashlib
import re
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

import rig  # noqa: E402
from tap import Tap, skip_all  # noqa: E402

SIDE = 16  # pixels of a JPEG


def segment(marker: int, body: bytes) -> bytes:
    return bytes([0xff, marker]) + (len(body) + 2).to_bytes(2, "big") + body


def packed(bits: str) -> bytes:
    """Entropy-coded data: ones fill the last byte, and a byte of ones is followed by a zero."""
    bits += "1" * (-len(bits) % 8)
    return int(bits, 2).to_bytes(len(bits) // 8, "big").replace(b"\xff", b"\xff\x00")


def difference(value: int) -> str:
    """A DC coefficient as its number of bits, in a code of four, and its bits (T.81 F.1.2.1)."""
    size = abs(value).bit_length()
    return f"{size:04b}" + (f"{value if value > 0 else value + (1 << size) - 1:0{size}b}" if size else "")


def cmyk_jpeg(samples: tuple[int, int, int, int], transform: int | None) -> bytes:
    """Baseline, one colour. The DC table has a code of four bits for each size, the AC table one code, the end of a
    block; a quantiser of 8 makes a coefficient what a sample is away from 128."""
    adobe = b"" if transform is None else segment(0xee, b"Adobe" + bytes([0, 100, 0, 0, 0, 0, transform]))
    frame = segment(0xc0, bytes([8, 0, SIDE, 0, SIDE, 4]) + b"".join(bytes([i, 0x11, 0]) for i in range(1, 5)))
    tables = (segment(0xdb, bytes([0] + [8] * 64)) +
              segment(0xc4, bytes([0x00, 0, 0, 0, 12] + [0] * 12 + list(range(12)))) +
              segment(0xc4, bytes([0x10, 1] + [0] * 15 + [0])))
    scan = segment(0xda, bytes([4] + [part for i in range(1, 5) for part in (i, 0)] + [0, 63, 0]))
    first = "".join(difference(sample - 128) + "0" for sample in samples)
    others = ("0000" + "0") * 4 * (SIDE * SIDE // 64 - 1)
    return b"\xff\xd8" + adobe + tables + frame + scan + packed(first + others) + b"\xff\xd9"


def decoded_by_libavcodec(media: Path, pixel_format: str) -> bytes:
    """With its range kept."""
    filters = f"scale=in_range=full:out_range=full,format={pixel_format}"
    return subprocess.run(["ffmpeg", "-nostdin", "-v", "error", "-i", str(media), "-vf", filters, "-f", "rawvideo", "-"],
                          stdout=subprocess.PIPE, check=True).stdout


def check_cmyk(tap: Tap, player: str, folder: Path) -> None:
    # Adobe's programs store ink upside down: 255 is none. Little cyan, more magenta and yellow, some black.
    samples = (230, 120, 60, 200)
    media = folder / "cmyk.jpg"
    media.write_bytes(cmyk_jpeg(samples, 0))
    hashes = folder / "cmyk.md5"
    ran = rig.run([player, "--json", "--framemd5", str(hashes), str(media)])
    right = decoded_by_libavcodec(media, "gbrp")
    green = right[0]
    tap.case(len(right) == 3 * SIDE * SIDE and abs(green - samples[1] * samples[3] // 255) <= 2,
             "libavcodec takes the black out of CMYK", str(right[:3]))
    tap.case(ran.status == 0 and '"software" : 1' in ran.out and
             hashes.read_text().split() == [hashlib.md5(right).hexdigest()], "Adobe's CMYK plays, in software", str(ran))
    media = folder / "ycck.jpg"
    media.write_bytes(cmyk_jpeg(samples, 2))
    ran = rig.run([player, "--json", "--framemd5", str(hashes), str(media)])
    tap.case(ran.status == 0 and hashes.read_text().split() == [hashlib.md5(decoded_by_libavcodec(media, "yuv444p")).hexdigest()],
             "and Adobe's YCCK", str(ran))
    media = folder / "plain.jpg"
    media.write_bytes(cmyk_jpeg(samples, None))
    ran = rig.run([player, str(media)])
    tap.case(ran.status == 1 and "JPEG with four components (CMYK)" in ran.err and "save it as RGB" in ran.err and
             len(ran.err.splitlines()) == 1, "CMYK of nobody knows which kind: an error that says so", str(ran))


def slice_groups() -> bytes:
    """A picture parameter set with two interleaved slice groups (H.264 7.3.2.2): what decoders see of FMO first."""
    bits = ("1" "1" "0" "0"  # set 0 of sequence 0, CAVLC, no order of fields
            "010" "1" "00110" "00110"  # two groups, interleaved, of six macroblocks each
            "1" "1" "0" "00" "1" "1" "1"  # one reference, no weights, quantisers of 26 and no offset
            "1" "0" "0" "1" "00")  # deblocking is controlled; the end
    return b"\x68" + int(bits, 2).to_bytes(4, "big")


def units_of(stream: bytes) -> list[bytes]:
    return re.split(rb"\x00?\x00\x00\x01", stream)[1:]


def with_slice_groups(stream: bytes) -> bytes:
    return b"".join(b"\x00\x00\x00\x01" + (slice_groups() if unit[0] & 31 == 8 else unit) for unit in units_of(stream))


def check_slice_groups(tap: Tap, player: str, folder: Path) -> None:
    plain, media = folder / "plain.h264", folder / "groups.h264"
    made = rig.run(["ffmpeg", "-nostdin", "-v", "error", "-f", "lavfi", "-i", "testsrc2=s=176x144:r=25", "-frames:v", "12",
                    "-c:v", "libx264", "-profile:v", "baseline", "-pix_fmt", "yuv420p", str(plain)])
    if made.status != 0:
        tap.skip("H.264 with slice groups ends in an error that names them", "this ffmpeg has no libx264")
        return
    media.write_bytes(with_slice_groups(plain.read_bytes()))
    ran = rig.run([player, "--json", str(plain)])
    tap.case(ran.status == 0 and '"frames" : 12' in ran.out, "without slice groups it plays", str(ran))
    for options in [], ["--device", "/dev/dri/renderD255"]:
        ran = rig.run([player, *options, str(media)])
        tap.case(ran.status == 1 and "slice groups (FMO)" in ran.err and "openh264dec" in ran.err and
                 len(ran.err.splitlines()) == 1,
                 f"H.264 with slice groups ends in an error that names them {' '.join(options)}".rstrip(), str(ran))
    # In the container's codec data instead of the stream. Not by gst-launch: that of 1.22 may wait for ever after an error
    # of any element during preroll.
    boxed = folder / "groups.mp4"
    made = rig.run(["ffmpeg", "-nostdin", "-v", "error", "-i", str(plain), "-c", "copy", str(boxed)])
    old = next(unit for unit in units_of(plain.read_bytes()) if unit[0] & 31 == 8)
    in_box = made.status == 0 and len(old) == len(slice_groups()) and old in boxed.read_bytes()
    if in_box:
        boxed.write_bytes(boxed.read_bytes().replace(old, slice_groups()))
    else:
        tap.skip("slice groups in an MP4 file", "this encoder's parameter set has another length")
    for stream in (media, boxed) if in_box else (media,):
        ran = rig.run([player, str(stream)], GST_DXVA_SOFTWARE_FALLBACK="0")
        tap.case(ran.status == 1 and "slice groups (FMO)" in ran.err and "software-fallback" not in ran.err,
                 f"so it does in {stream.suffix[1:]}, and nothing is blamed that does not matter", str(ran))


def main() -> None:
    if not rig.name():
        skip_all("only in the environment of ./dev test")
    player = str(Path(sys.argv[1]).resolve())
    tap = Tap()
    with tempfile.TemporaryDirectory() as name:
        check_cmyk(tap, player, Path(name))
        check_slice_groups(tap, player, Path(name))
    tap.end()


if __name__ == "__main__":
    main()
