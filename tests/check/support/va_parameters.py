# SPDX-License-Identifier: LGPL-2.1-or-later
"""Two clients' DXVASOFT_PARAMETERS of one stream, field by field. libavcodec's is the left one, gst-va's the right
one. What may differ is listed here with the condition under which it says nothing of the picture;
docs/design/va-parameters.md says why. Anything else is a difference."""

import re
import subprocess
from pathlib import Path

Picture = dict[str, str]

# Whose differences are explained, Debian 12's and 13's: elsewhere the comparison says nothing yet.
EXPLAINED = {"ffmpeg": ("5.1", "7.1"), "gst-launch-1.0": ("1.22", "1.26")}


def unknown_version() -> str | None:
    """Which program is another one than those whose differences are explained, or None."""
    for program, versions in EXPLAINED.items():
        option = "-version" if program == "ffmpeg" else "--version"
        said = subprocess.run([program, option], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True).stdout
        if not said.startswith(tuple(f"{program} version {version}." for version in versions)):
            return f"explained for {' and '.join(versions)}, this is {' '.join(said.split()[:3])}"
    return None


def read(file: Path) -> list[Picture]:
    pictures: list[Picture] = []
    for line in file.read_text(encoding="ascii").splitlines():
        if line.startswith("# picture"):
            pictures.append({})
        elif "=" in line:
            name, value = line.split("=", 1)
            pictures[-1][name] = value
    return pictures


def slice_of(field: str) -> str:
    return field.split(".", 1)[0]


def reference_of(picture: Picture, index: str) -> str:
    """The picture that an index into ReferenceFrames means; 255 is none."""
    return picture.get(f"picture.ReferenceFrames[{index}].picture_id", "none")


def without_order(picture: Picture) -> Picture:
    """References by picture, in place of their index into a list that has no order."""
    out = {}
    for field, value in picture.items():
        if found := re.match(r"picture\.ReferenceFrames\[(\d+)\]\.(.*)", field):
            name = reference_of(picture, found[1])
            # libavcodec's client names a lost picture, with a surface that nobody wrote.
            if name not in ("none", "undecoded") and found[2] != "picture_id":
                out[f"picture.ReferenceFrames{{{name}}}.{found[2]}"] = value
        elif re.match(r"slice\[\d+\]\.RefPicList\[\d\]$", field):
            out[field] = " ".join(reference_of(picture, index) for index in value.split())
        else:
            out[field] = value
    return out


def h264_weights(picture: Picture) -> Picture:
    """The weights that prediction uses, in place of the fields they are told in."""
    out = {name: value for name, value in picture.items()
           if not re.search(r"(weight|offset)_l[01]|_log2_weight_denom", name)}
    for name, kind in picture.items():
        if not name.endswith(".slice_type"):
            continue
        part, kind = slice_of(name), int(kind) % 5  # P, B, I, as in the standard's table 7-6
        explicit = (kind == 0 and picture["picture.pic_fields.weighted_pred_flag"] == "1" or
                    kind == 1 and picture["picture.pic_fields.weighted_bipred_idc"] == "1")
        for side in range(kind + 1 if explicit else 0):
            count = int(picture[f"{part}.num_ref_idx_l{side}_active_minus1"]) + 1
            for plane in ("luma", "chroma"):
                plain = str(1 << int(picture[f"{part}.{plane}_log2_weight_denom"]))
                told = picture[f"{part}.{plane}_weight_l{side}_flag"] == "1"
                for i in range(count):
                    if plane == "luma":
                        weights = [picture[f"{part}.luma_{what}_l{side}"].split()[i] for what in ("weight", "offset")]
                        default = [plain, "0"]
                    else:
                        weights = [picture[f"{part}.chroma_{what}_l{side}[{i}]"] for what in ("weight", "offset")]
                        default = [f"{plain} {plain}", "0 0"]
                    out[f"{part}.{plane}[{side}][{i}]"] = " ".join(weights if told else default)
    return out


def jpeg_used(picture: Picture) -> Picture:
    """Components by their index, and of tables what is in use."""
    out = dict(picture)
    count = int(picture["picture.num_components"])
    index = {picture[f"picture.components[{i}].component_id"]: str(i) for i in range(count)}
    used = {picture[f"picture.components[{i}].quantiser_table_selector"] for i in range(count)}
    for field, value in picture.items():
        if found := re.match(r"(.*)\.components\[(\d+)\]", field):
            limit = int(picture[f"{found[1]}.num_components"])
            if int(found[2]) >= limit or field.endswith(".component_id"):
                del out[field]
            elif field.endswith(".component_selector"):
                out[field] = index.get(value, "no component")
        elif found := re.match(r"(huffman\.huffman_table\[\d+\])\.(.c)_values", field):
            codes = sum(map(int, picture[f"{found[1]}.num_{found[2]}_codes"].split()))
            out[field] = " ".join(value.split()[:codes])
        elif field == "matrix.load_quantiser_table":
            out[field] = " ".join(value.split()[int(table)] for table in sorted(used))
        elif (found := re.match(r"matrix\.quantiser_table\[(\d)\]", field)) and found[1] not in used:
            del out[field]
    return out


NORMAL = {"h264": (without_order, h264_weights), "hevc": (without_order,), "jpeg": (jpeg_used,)}

# What one client leaves at the end of a slice's data and the other one cuts off, by its length.
TAILS = {"h264": bytes, "hevc": bytes,  # of zeros
         "mpeg2": lambda length: b"\0\0\1\xb7"[:length], "jpeg": lambda length: b"\xff\xd9"[:length]}


def tail_is_no_data(codec: str, left: Picture, right: Picture, field: str) -> bool:
    part = slice_of(field)
    short, long = sorted((left, right), key=lambda picture: int(picture[f"{part}.data.bytes"]))
    more = int(long[f"{part}.data.bytes"]) - int(short[f"{part}.data.bytes"])
    tail = TAILS[codec](more) if codec in TAILS else b""
    hashed = int(short[f"{part}.data.fnv1a"], 16)
    for byte in tail:
        hashed = (hashed ^ byte) * 0x01000193 & 0xffffffff
    return len(tail) == more > 0 and f"{hashed:08x}" == long[f"{part}.data.fnv1a"]


def differ_in(bits: int):
    return lambda left, right, field: (int(left[field]) ^ int(right[field])) & ~bits == 0


def when(field: str, *values: str):
    """Of a field that says nothing where another one has one of these values, for both clients."""
    def allowed(left: Picture, right: Picture, differing: str) -> bool:
        name = field.replace("SLICE", slice_of(differing))
        return left[name] in values and right[name] in values
    return allowed


def anyway(left: Picture, right: Picture, field: str) -> bool:
    return True


def of_the_other_field(left: Picture, right: Picture, field: str) -> bool:
    """The order count of a field that is not meant: the flags of the picture, or the reference, name the other one."""
    picture, count = field.rsplit(".", 1)
    meant = {"TopFieldOrderCnt": 4, "BottomFieldOrderCnt": 2}[count]  # VA_PICTURE_H264_BOTTOM_FIELD, …_TOP_FIELD
    return all(int(of[f"{picture}.flags"]) & (2 | 4) == meant for of in (left, right))


def without_b_slices(left: Picture, right: Picture, field: str) -> bool:
    """No slice reads an order count."""
    return all(int(value) % 5 != 1 for name, value in left.items() if name.endswith(".slice_type"))


# A field's name as a pattern, and whether the two pictures may differ in it.
ALLOWED = {
    "h264": [
        (r".*OrderCnt", lambda a, b, f: int(a[f]) - int(b[f]) == 65536),
        (r".*FieldOrderCnt", of_the_other_field),
        (r".*FieldOrderCnt", without_b_slices),
        (r"picture\.CurrPic\.flags", differ_in(8)),
        (r"picture\.seq_fields\.log2_max_pic_order_cnt_lsb_minus4", when("picture.seq_fields.pic_order_cnt_type", "1", "2")),
    ],
    "hevc": [
        (r"picture\.(CurrPic|ReferenceFrames.*)\.flags", differ_in(2 | 4)),
        (r"picture\.(pcm_sample_bit_depth|log2_min_pcm|log2_diff_max_min_pcm).*",
         when("picture.pic_fields.pcm_enabled_flag", "0")),
        (r"slice\[\d+\]\.LongSliceFlags\.collocated_from_l0_flag",
         lambda a, b, f: any(rule(a, b, f) for rule in (when("SLICE.LongSliceFlags.slice_type", "1", "2"),
                                                        when("SLICE.LongSliceFlags.slice_temporal_mvp_enabled_flag", "0")))),
        (r"slice\[\d+\]\.(LongSliceFlags\.slice_temporal_mvp_enabled_flag|collocated_ref_idx)",
         when("SLICE.LongSliceFlags.slice_type", "2")),
        (r"slice\[\d+\]\.num_entry_point_offsets", lambda a, b, f: a[f] == "0"),
    ],
    "vp8": [
        (r"picture\.((last_ref|golden_ref|alt_ref)_frame|prob_(intra|last|gf))",
         when("picture.pic_fields.key_frame", "0")),
        (r"slice\[\d+\]\.slice_data_size",
         lambda a, b, f: int(b[f]) - int(a[f]) == int(b[f"{slice_of(f)}.slice_data_offset"])),
    ],
    "vp9": [
        (r"picture\.pic_fields\.(mcomp_filter_type|(last|golden|alt)_ref_frame(_sign_bias)?)",
         lambda a, b, f: any(rule(a, b, f) for rule in (when("picture.pic_fields.frame_type", "0"),
                                                        when("picture.pic_fields.intra_only", "1")))),
        # Of blocks without a reference there is one level.
        (r"slice\[\d+\]\.seg_param\[\d\]\.filter_level\[0\]", lambda a, b, f: a[f].split()[0] == b[f].split()[0]),
        (r"slice\[\d+\]\.seg_param\[\d\]\.filter_level.*", when("picture.filter_level", "0")),
        (r"slice\[\d+\]\.seg_param\[[1-7]\]\..*", when("picture.pic_fields.segmentation_enabled", "0")),
    ],
    "mpeg2": [
        (r"matrix\.(load_)?chroma_.*", anyway),  # there are no 4:2:2 pictures in VA's profiles
        (r"picture\.forward_reference_picture",
         lambda a, b, f: a[f] == "undecoded" and b[f] == "none" and
         when("picture.picture_coding_extension.is_first_field", "0")(a, b, f)),
    ],
    "jpeg": [],
    "av1": [
        (r"picture\.current_display_picture", when("picture.film_grain_info.film_grain_info_fields.apply_grain", "0")),
        # With grain it is a surface beside, and what was in that before is no matter.
        (r"picture\.current_display_picture", lambda a, b, f: not {a[f], b[f]} & {"none", "this"}),
        (r"picture\.loop_filter_info_fields\.mode_ref_delta_enabled", when("picture.filter_level", "0 0")),
        (r"picture\.order_hint_bits_minus_1", when("picture.seq_info_fields.enable_order_hint", "0")),
        (r"picture\.pic_info_fields\.force_integer_mv", when("picture.pic_info_fields.frame_type", "0", "2")),
        (r"picture\.ref_frame_map", when("picture.pic_info_fields.frame_type", "0")),
        (r"picture\.ref_frame_idx", when("picture.pic_info_fields.frame_type", "0", "2")),
    ],
}


def explained(codec: str, left: Picture, right: Picture, field: str) -> bool:
    # Where the slice lies in its buffer is the client's affair: the hash says that it is the same.
    if re.match(r"slice\[\d+\]\.slice_data_offset", field):
        return True
    if field not in left or field not in right:
        return False
    if re.match(r"slice\[\d+\]\.(slice_data_size|data\.bytes|data\.fnv1a)", field) and \
            tail_is_no_data(codec, left, right, field):
        return True
    return any(re.fullmatch(pattern, field) and allowed(left, right, field) for pattern, allowed in ALLOWED[codec])


def differences(codec: str, lefts: list[Picture], rights: list[Picture]) -> list[str]:
    """The ones that nothing explains."""
    if len(lefts) != len(rights) or not lefts:
        return [f"{len(lefts)} pictures, {len(rights)} pictures"]
    found = []
    for number, (left, right) in enumerate(zip(lefts, rights)):
        for normal in NORMAL.get(codec, ()):
            left, right = normal(left), normal(right)
        found += [f"picture {number}: {field}: libavcodec {left.get(field)}, gst-va {right.get(field)}"
                  for field in sorted(left.keys() | right.keys())
                  if left.get(field) != right.get(field) and not explained(codec, left, right, field)]
    return found


def problem(client, codec: str, media: Path, surface: str, decoder: str | None, folder: Path, gstvas: Path) -> str:
    """Empty when libavcodec's client (a clients.Clients) says the same of a stream as `gstvas`, which gst-va's run
    left. Its own goes into `folder` for the time of the call."""
    own = folder / f"{gstvas.name}.libavcodec"
    run = client.decode(media, {"DXVASOFT_PARAMETERS": str(own)}, surface, decoder)
    if run.returncode or not own.exists() or not gstvas.exists():
        return f"exit status {run.returncode}: {run.stderr}"
    found = differences(codec, read(own), read(gstvas))
    own.unlink()
    return "\n".join([*found[:8], f"{len(found)} differences"]) if found else ""
