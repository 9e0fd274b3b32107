# SPDX-License-Identifier: LGPL-2.1-or-later
"""Streams with what no file of the collection has, made by the distribution's encoders. One that lacks
an encoder is not made, and the test skips its case."""

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

SECONDS = 300  # a guard against hangs, no measure of speed


@dataclass(frozen=True)
class Recipe:
    codec: str
    name: str
    file: str  # its ending says the container
    command: str = ""  # {out} is the file to write, {raw} a y4m file of `size` and `pixel_format`
    size: str = "352x288"
    frames: int = 40
    pixel_format: str = "yuv420p"
    surface: str | None = "nv12"  # the pictures' format when a driver decodes them; None: several
    parts: "tuple[Recipe, ...]" = ()  # in place of a command: byte streams or IVF files, one after the other
    on_device: bool | None = True  # dxvadec passes such surfaces on; None: some of them

    def make(self, folder: Path) -> Path:
        """The stream. Raises subprocess.SubprocessError or OSError when it cannot be made."""
        out = folder / self.file
        if self.parts:
            out.write_bytes(joined([part.make(folder) for part in self.parts]))
            return out
        raw = folder / f"raw-{self.size}-{self.frames}-{self.pixel_format}.y4m"
        if not raw.exists():
            # An odd size comes out of no 4:2:0 filter; scaling says what it should be.
            _run(["ffmpeg", "-nostdin", "-v", "error", "-f", "lavfi", "-i",
                  f"testsrc2=s=352x288:r=25,noise=alls=12:allf=t,scale={self.size.replace('x', ':')}",
                  "-frames:v", str(self.frames), "-pix_fmt", self.pixel_format, "-strict", "-1", str(raw)])
        _run([part.format(raw=raw, out=out) for part in self.command.split()])
        return out


_IVF_HEADER = 32  # bytes; 12 more before each frame: its size, its time in units of the header


def joined(files: list[Path]) -> bytes:
    """Byte streams as one; of IVF files the first one's header, and times that go on."""
    if files[0].suffix != ".ivf":
        return b"".join(file.read_bytes() for file in files)
    out, count = bytearray(files[0].read_bytes()[:_IVF_HEADER]), 0
    for file in files:
        data, at = file.read_bytes(), _IVF_HEADER
        while at + 12 <= len(data):
            end = at + 12 + int.from_bytes(data[at:at + 4], "little")
            out += data[at:at + 4] + count.to_bytes(8, "little") + data[at + 12:end]
            at, count = end, count + 1
    out[24:28] = count.to_bytes(4, "little")
    return bytes(out)


def _run(command: list[str]) -> None:
    subprocess.run(command, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                   stderr=subprocess.PIPE, timeout=SECONDS)


_FIELDS = Path(__file__).with_name("mpeg2_fields.py")
_FFMPEG = "ffmpeg -nostdin -v error -y -i {raw} "
_MPEG2 = _FFMPEG + "-c:v mpeg2video -qscale:v 4 -bf 2 -g 12 "
_AV1 = _FFMPEG + "-c:v libaom-av1 -cpu-used 6 -b:v 400k "
_H264 = _FFMPEG + "-c:v libx264 -preset fast -bf 2 -threads 1 "
_JPEG = _FFMPEG + "-c:v mjpeg -qscale:v 4 "
_VP8 = _FFMPEG + "-c:v libvpx -deadline realtime -cpu-used 4 -b:v 400k "
_VP9 = _FFMPEG + "-c:v libvpx-vp9 -deadline realtime -cpu-used 6 -b:v 400k "
# Rate control that drops to three quarters and to half of the size, without a key frame.
_RESIZE = ("gst-launch-1.0 -q videotestsrc num-buffers=110 pattern=snow ! "
           "video/x-raw,width=640,height=360,framerate=25/1,format=I420 ! vp9enc resize-allowed=true "
           "end-usage=cbr target-bitrate=40000 deadline=1 cpu-used=8 lag-in-frames=0 max-quantizer=56 "
           "buffer-size=1000 buffer-initial-size=500 buffer-optimal-size=600 keyframe-max-dist=9999 ! "
           "webmmux ! filesink location={out}")


def _av1enc(options: str) -> str:
    """What FFmpeg's wrapper of libaom cannot ask for. Without quantisers av1enc is lossless, of which libaom 3.6
    cannot change the size."""
    return ("gst-launch-1.0 -q videotestsrc num-buffers=30 pattern=zone-plate kx2=20 ky2=20 kt=3 ! "
            "video/x-raw,width=320,height=180,framerate=25/1,format=I420 ! "
            f"av1enc cpu-used=6 target-bitrate=300 min-quantizer=8 max-quantizer=56 threads=1 {options} ! av1parse ! matroskamux ! "
            "filesink location={out}")


# Every 15th picture in the order of display is a CRA picture, with four RASL pictures before it; in the
# order of coding the first one is the 12th.
_OPEN = "open-gop=1:keyint=15:min-keyint=15:scenecut=0:bframes=4:b-adapt=0"


def _hevc(parameters: str, more: str = "") -> str:
    return (f"{_FFMPEG} {more} -c:v libx265 -preset fast -x265-params "
            f"log-level=none:pools=1:frame-threads=1:{parameters} {{out}}")


def _hevc_part(size: str, pixel_format: str = "yuv420p") -> Recipe:
    return Recipe("hevc", "", f"part-{size}-{pixel_format}.265", _hevc("bframes=2"), size=size, frames=5,
                  pixel_format=pixel_format)


# Ten changes; at some both sides, at some one, up and down.
_SIZES = ("352x288", "176x144", "640x360", "96x96", "350x286", "352x288", "720x480", "64x64", "174x142", "640x360",
          "352x288")


def _part(codec: str, ending: str, command: str, size: str, pixel_format: str = "yuv420p") -> Recipe:
    return Recipe(codec, "", f"part-{codec}-{size}-{pixel_format}.{ending}", command, size=size, frames=5,
                  pixel_format=pixel_format)


def _sizes(codec: str, ending: str, command: str) -> "tuple[Recipe, ...]":
    return tuple(_part(codec, ending, command, size) for size in _SIZES)


def _depths(codec: str, ending: str, eight: str, ten: str) -> "tuple[Recipe, ...]":
    return tuple(_part(codec, ending, *of) for of in (
        (eight, "352x288"), (ten, "352x288", "yuv420p10le"), (ten, "640x360", "yuv420p10le"), (eight, "174x142"),
        (ten, "352x288", "yuv420p10le"), (eight, "352x288")))


RECIPES = [
    Recipe("hevc", "wavefronts, weighted prediction, B pyramid", "weights.265",
           _hevc("wpp=1:weightp=1:weightb=1:bframes=4", "-vf fade=in:0:25")),
    Recipe("hevc", "default scaling lists", "lists.265", _hevc("scaling-list=default")),
    Recipe("hevc", "open groups: CRA and RASL pictures", "open.265",
           _hevc(_OPEN)),
    Recipe("hevc", "starts on a CRA picture, with RASL pictures that must go", "cra.265",
           _hevc(_OPEN, "-bsf:v noise=drop='lt(n,11)'")),
    Recipe("hevc", "intra refresh in one long group", "refresh.265", _hevc("intra-refresh=1:keyint=20")),
    Recipe("hevc", "lossless", "lossless.265", _hevc("lossless=1"), frames=6),
    Recipe("hevc", "lossless blocks", "lossless-blocks.265", _hevc("cu-lossless=1:crf=4:rd=4"), frames=6),
    Recipe("hevc", "asymmetric and rectangular blocks, transform skip, CTU 16", "blocks.265",
           _hevc("rect=1:amp=1:tskip=1:ctu=16:min-cu-size=8:max-tu-size=16"), frames=20),
    Recipe("hevc", "three slices, temporal layers", "layers.265", _hevc("slices=3:temporal-layers=1:bframes=3")),
    Recipe("hevc", "constrained intra prediction, no loop filters", "constrained.265",
           _hevc("constrained-intra=1:sao=0:deblock=0:signhide=0")),
    Recipe("hevc", "deblocking with offsets, quantisation groups", "offsets.265",
           _hevc("deblock=-3,4:cbqpoffs=5:crqpoffs=-4:qg-size=16:aq-mode=3")),
    Recipe("hevc", "six references", "references.265", _hevc("ref=6:bframes=0")),
    Recipe("hevc", "fields", "fields.265", _hevc("interlace=tff")),
    Recipe("hevc", "size that is cropped", "cropped.265", _hevc("bframes=2"), size="350x286"),
    Recipe("hevc", "ten bits, scaling lists, open groups", "ten.265",
           _hevc("scaling-list=default:" + _OPEN),
           pixel_format="yuv420p10le", surface="p010le"),
    Recipe("hevc", "ten bits, size that is cropped", "tensize.265", _hevc("bframes=2"), size="174x142",
           pixel_format="yuv420p10le", surface="p010le"),
    Recipe("hevc", "ten other sizes, at key frames", "sizes.265", surface=None,
           parts=tuple(_hevc_part(size) for size in _SIZES)),
    Recipe("hevc", "from 8 to 10 bits and back, with other sizes", "depths.265", surface=None,
           parts=(_hevc_part("352x288"), _hevc_part("352x288", "yuv420p10le"), _hevc_part("640x360", "yuv420p10le"),
                  _hevc_part("174x142"), _hevc_part("352x288", "yuv420p10le"))),
    Recipe("h264", "ten other sizes, at key frames", "sizes.264", surface=None,
           parts=_sizes("h264", "264", _H264 + "{out}")),
    Recipe("h264", "from 8 to 10 bits, which no device has, and back, with other sizes", "depths.264", surface=None,
           on_device=None, parts=_depths("h264", "264", _H264 + "{out}", _H264 + "{out}")),
    Recipe("h264", "4:2:2", "video422.264", _H264 + "{out}", pixel_format="yuv422p", surface=None, frames=10,
           on_device=False),
    Recipe("h264", "lossless, for which VA has no words", "lossless.264",
           _FFMPEG + "-c:v libx264 -qp 0 -threads 1 {out}", surface=None, frames=10, on_device=False),
    Recipe("h264", "gray", "gray.264", _H264 + "{out}", pixel_format="gray", surface=None, frames=10),
    Recipe("hevc", "gray", "gray.265", _hevc("bframes=2"), pixel_format="gray", surface=None, frames=10,
           on_device=False),
    Recipe("hevc", "gray, ten bits", "tengray.265", _hevc("bframes=2"), pixel_format="gray10le", surface=None,
           frames=10, on_device=False),
    Recipe("hevc", "4:2:2", "video422.265", _hevc("bframes=2"), pixel_format="yuv422p", surface=None, frames=10,
           on_device=False),
    Recipe("hevc", "4:4:4", "video444.265", _hevc("bframes=2"), pixel_format="yuv444p", surface=None, frames=10,
           on_device=False),
    # Of more than 8 bits: OpenGL has them packed.
    Recipe("h264", "4:2:2, ten bits", "ten422.264", _H264 + "{out}", pixel_format="yuv422p10le", surface=None,
           frames=10, on_device=False),
    Recipe("h264", "4:4:4, ten bits, size that is cropped", "ten444.264", _H264 + "{out}", size="174x142",
           pixel_format="yuv444p10le", surface=None, frames=10, on_device=False),
    *(Recipe("hevc", f"{name}, {bits} bits", f"{file}.265", _hevc("bframes=2"), size="174x142",
             pixel_format=pixel_format, surface=None, frames=10, on_device=False)
      for name, bits, file, pixel_format in (
          ("4:2:2", "ten", "ten422", "yuv422p10le"), ("4:4:4", "ten", "ten444", "yuv444p10le"),
          ("4:2:0", "twelve", "twelve420", "yuv420p12le"), ("4:2:2", "twelve", "twelve422", "yuv422p12le"),
          ("4:4:4", "twelve", "twelve444", "yuv444p12le"))),
    Recipe("vp9", "4:2:2, ten bits", "ten4229.webm", _VP9 + "-profile:v 3 {out}", pixel_format="yuv422p10le",
           surface=None, frames=10, on_device=False),
    Recipe("vp9", "4:2:2", "video4229.webm", _VP9 + "-profile:v 1 {out}", pixel_format="yuv422p", surface=None,
           frames=10, on_device=False),
    Recipe("vp9", "4:4:4", "video4449.webm", _VP9 + "-profile:v 1 {out}", pixel_format="yuv444p", surface=None,
           frames=10, on_device=False),
    Recipe("av1", "4:4:4", "video4441.mkv", _AV1 + "{out}", pixel_format="yuv444p", surface=None, frames=8,
           on_device=False),
    Recipe("vp9", "ten other sizes, at key frames", "sizes9.ivf", surface=None,
           parts=_sizes("vp9", "ivf", _VP9 + "{out}")),
    Recipe("vp9", "from 8 to 10 bits and back, with other sizes", "depths9.ivf", surface=None,
           parts=_depths("vp9", "ivf", _VP9 + "{out}", _VP9 + "-profile:v 2 {out}")),
    Recipe("av1", "ten other sizes, at key frames", "sizes1.ivf", surface=None,
           parts=_sizes("av1", "ivf", _AV1 + "{out}")),
    Recipe("av1", "from 8 to 10 bits and back, with other sizes", "depths1.ivf", surface=None,
           parts=_depths("av1", "ivf", _AV1 + "{out}", _AV1 + "{out}")),
    Recipe("vp8", "ten other sizes, at key frames", "sizes8.ivf", surface=None,
           parts=_sizes("vp8", "ivf", _VP8 + "{out}")),
    Recipe("mpeg2", "ten other sizes, at key frames", "sizes.m2v", surface=None,
           # Else ffmpeg, which makes the references, loses the last picture of each size.
           parts=_sizes("mpeg2", "m2v", _FFMPEG + "-c:v mpeg2video -qscale:v 4 -bf 0 -flags low_delay {out}")),
    Recipe("jpeg", "ten other sizes", "sizes.mjpeg", surface=None,
           parts=_sizes("jpeg", "mjpeg", _JPEG + "-pix_fmt yuvj420p {out}")),
    Recipe("vp8", "hidden alternate references, four partitions", "altref.webm",
           _VP8 + "-auto-alt-ref 1 -lag-in-frames 16 -slices 4 {out}"),
    Recipe("vp8", "odd size, profile 3", "odd8.webm", _VP8 + "-profile:v 3 {out}", size="353x287"),
    Recipe("vp8", "error resilient", "resilient8.webm", _VP8 + "-error-resilient 1 {out}"),
    Recipe("vp9", "another size without a key frame", "resize.webm", _RESIZE),
    Recipe("vp9", "hidden alternate references", "altref9.webm",
           _FFMPEG + "-c:v libvpx-vp9 -deadline good -cpu-used 5 -auto-alt-ref 6 -lag-in-frames 25 -b:v 400k {out}"),
    Recipe("vp9", "odd size", "odd9.webm", _VP9 + "{out}", size="353x287"),
    Recipe("vp9", "lossless", "lossless9.webm", _VP9 + "-lossless 1 {out}", frames=6),
    Recipe("vp9", "tiles, frame parallel, error resilient", "tiles9.webm",
           _VP9 + "-tile-columns 2 -tile-rows 1 -frame-parallel 1 -error-resilient 1 {out}", size="1280x720",
           frames=8),
    Recipe("vp9", "segments", "segments9.webm", _VP9 + "-aq-mode 3 {out}"),
    Recipe("vp9", "ten bits", "ten9.webm", _VP9 + "-profile:v 2 {out}", pixel_format="yuv420p10le",
           surface="p010le"),
    # Even: swscale, which makes the references, forgets the last column of an odd P010 picture's chroma.
    Recipe("vp9", "ten bits, no multiple of 8", "tensize9.webm", _VP9 + "-profile:v 2 {out}", size="174x142",
           pixel_format="yuv420p10le", surface="p010le"),
    Recipe("mpeg2", "interlaced frame pictures, field DCT and motion", "interlaced.m2v",
           _MPEG2 + "-vf tinterlace=interleave_top -flags +ildct+ilme -top 1 {out}"),
    Recipe("mpeg2", "alternate scan, VLC table 1, non-linear quantiser, 10 bits of DC", "tables.m2v",
           _MPEG2 + "-flags +ildct+ilme -alternate_scan 1 -intra_vlc 1 -non_linear_quant 1 -qmax 28 -dc 10 {out}"),
    Recipe("mpeg2", "matrices of its own", "matrices.m2v",
           _MPEG2 + "-intra_matrix " + ",".join(["8"] + [str(20 + i // 2) for i in range(63)]) +
           " -inter_matrix " + ",".join(str(18 + i // 3) for i in range(64)) + " {out}"),
    Recipe("mpeg2", "field pictures", "fields.m2v", f"{sys.executable} {_FIELDS} {{out}}"),
    # 164 lines are 11 rows of macroblocks, and 12 where the sequence may be interlaced.
    Recipe("mpeg2", "odd rows of macroblocks, progressive", "rows.m2v", _MPEG2 + "{out}", size="176x164"),
    Recipe("mpeg2", "odd rows of macroblocks, interlaced", "rowsi.m2v", _MPEG2 + "-flags +ildct+ilme {out}",
           size="176x164"),
    Recipe("mpeg2", "odd size", "odd.m2v", _MPEG2 + "{out}",
           size="353x287"),
    Recipe("jpeg", "4:2:0", "video420.avi", _JPEG + "-pix_fmt yuvj420p {out}", frames=10),
    Recipe("jpeg", "4:2:0, odd size", "odd420.avi", _JPEG + "-pix_fmt yuvj420p {out}", size="353x287", frames=4),
    Recipe("jpeg", "4:2:0, optimal Huffman tables", "huffman420.avi", _JPEG + "-huffman optimal -pix_fmt yuvj420p {out}",
           frames=4),
    Recipe("jpeg", "gray", "gray.jpg",
           "gst-launch-1.0 -q videotestsrc num-buffers=1 ! video/x-raw,format=GRAY8,width=350,height=286 ! jpegenc ! "
           "filesink location={out}", surface=None, on_device=False),
    Recipe("jpeg", "4:2:2", "video422.avi", _JPEG + "-pix_fmt yuvj422p {out}", frames=10,
           surface="yuv422p", on_device=False),
    Recipe("jpeg", "4:4:4", "video444.avi", _JPEG + "-pix_fmt yuvj444p {out}", frames=10,
           surface="yuv444p", on_device=False),
    Recipe("av1", "tiles, 128x128 superblocks", "tiles1.mkv", _AV1 + "-tiles 2x2 {out}", size="640x360", frames=12),
    Recipe("av1", "quantiser matrices, lossless segments", "matrix1.mkv",
           _AV1 + "-aom-params enable-qm=1 -aq-mode 1 {out}", frames=12),
    Recipe("av1", "lossless", "lossless1.mkv", _AV1 + "-crf 0 -aom-params lossless=1 {out}", frames=4),
    Recipe("av1", "screen content, palettes, copied blocks", "screen1.mkv",
           _AV1 + "-aom-params tune-content=screen:enable-intrabc=1:enable-palette=1 {out}", frames=8),
    Recipe("av1", "no order hints", "hints1.mkv", _AV1 + "-aom-params enable-order-hint=0 {out}", frames=12),
    Recipe("av1", "film grain", "grain1.mkv",
           _AV1 + "-aom-params film-grain-test=3 {out}", frames=12),
    Recipe("av1", "another size without a key frame, with scaled references", "resize1.mkv",
           _av1enc("resize-mode=random")),
    Recipe("av1", "coded with less width and stretched", "superres1.mkv",
           _av1enc("superres-mode=fixed superres-denominator=13 superres-kf-denominator=11")),
    Recipe("av1", "another coded width in each picture", "superresr1.mkv", _av1enc("superres-mode=random")),
    Recipe("av1", "other sizes, stretched as well", "both1.mkv",
           _av1enc("resize-mode=random superres-mode=random")),
    Recipe("av1", "gray", "gray1.mkv", _AV1 + "{out}", pixel_format="gray", surface=None, frames=8, on_device=False),
    Recipe("av1", "gray, ten bits", "tengray1.mkv", _AV1 + "{out}", size="174x142", pixel_format="gray10le",
           surface=None, frames=8, on_device=False),
    Recipe("av1", "hidden frames, odd size", "odd1.mkv", _AV1 + "-lag-in-frames 25 {out}", size="353x287"),
    Recipe("av1", "ten bits", "ten1.mkv", _AV1 + "{out}", frames=12, pixel_format="yuv420p10le", surface="p010le"),
    Recipe("av1", "ten bits, film grain", "tengrain1.mkv", _AV1 + "-aom-params film-grain-test=7 {out}", frames=12,
           pixel_format="yuv420p10le", surface="p010le"),
]
