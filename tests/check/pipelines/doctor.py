#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""dxva-doctor on machines that the bundled driver plays: its verdict, its sentences, its exit status.

doctor.py DXVA_DOCTOR CRASHING_DRIVER HANGING_DRIVER"""

import json
import os
import re
import shutil
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

import outputs  # noqa: E402
import rig  # noqa: E402
from tap import Tap, skip_all  # noqa: E402

MANUAL = Path(__file__).resolve().parents[3] / "docs" / "man" / "dxva-doctor.1"
OUTCOMES = {0: "zero-copy", 1: "copies", 2: "software", 3: "broken"}


def examine(doctor: str, environment: dict[str, str] | None = None, **more: str) -> tuple[str, dict[str, dict], str]:
    """Outcome, problems by id, and everything for the log."""
    ran = rig.run([doctor, "--json"], environment, **more)
    try:
        findings = json.loads(ran.out)
    except ValueError:
        return "no answer", {}, str(ran)
    verdict = findings["verdict"]
    if OUTCOMES.get(ran.status) != verdict["outcome"]:
        return f"exit status {ran.status} for {verdict['outcome']}", {}, str(ran)
    return verdict["outcome"], {one["id"]: one for one in verdict["problems"]}, ran.out


def every_way_of_telling(tap: Tap, doctor: str) -> None:
    """What there is to know is in the text for people, in the JSON for programs and in the HTML for a bug report."""
    variable = {"GST_DXVA_ZEROCOPY": "1"}  # changes nothing
    document = json.loads(rig.run([doctor, "--json"], **variable).out)
    text = rig.run([doctor], **variable).out
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder, "report.html")
        rig.run([doctor, f"--html={report}"], **variable)
        page = report.read_text(encoding="utf-8") if report.is_file() else ""
    surface = document["decode"]["surface"]
    # What is said of it in JSON, and the words for people.
    known = {
        "the variables in force": (document["environment"].get("GST_DXVA_ZEROCOPY") == "1", r"GST_DXVA_ZEROCOPY=1"),
        "what the surfaces are": ({"layout", "modifier", "planes", "objects"} <= set(surface),
                                  rf"surfaces +\S.*{surface.get('layout')}, modifier {surface.get('modifier')}"),
        "fences of surfaces": ("sync-file" in surface, r"their fences +\S"),
        "fences of OpenGL": ("native-fence" in document["gl"], r"\n  fences +\S"),
        "what OpenGL imports": ("imports" in document["gl"], r"imports +\S"),
        "whether GPUs match": (document["gpu-match"] == "unknown", r"GPU match +not known"),
        "the way of a codec and the ranks":
            (document["ranks"]["vp9"][0]["element"] == "dxvadec" and len(document["ranks"]["vp9"]) > 1,
             rf"vp9 +\S+, dxvadec {document['ranks']['vp9'][0]['rank']}, .*{document['ranks']['vp9'][-1]['element']} \d"),
        "what the driver decodes": ("h264" in document["va"][0]["codecs"], r"decodes +.*h264"),
    }
    for what, (in_json, words) in known.items():
        tap.case(in_json and re.search(words, text) is not None and re.search(words, page) is not None,
                 f"{what}: for people, for programs and in a bug report", f"JSON: {in_json}\n{text}")


def check_asked_device(tap: Tap, doctor: str) -> None:
    """Who names a device that does not start hears why, and what to do, by whatever way it was named."""
    for device, why, remedy in (("/dev/dri/renderD255", "No such file or directory", "GPU's node"),
                                ("/etc/passwd", "is no DRM device", "GPU's node"),
                                ("cuda:7", "libcuda", "libnvcuvid.so.1")):
        for command, variables in (([doctor, "--device", device], {}), ([doctor], {"GST_DXVA_DEVICE": device})):
            ran = rig.run([*command, "--json"], **variables)
            told = {one["id"]: one for one in json.loads(ran.out)["verdict"]["problems"]}.get("asked-device", {})
            text = rig.run(command, **variables).out
            tap.case(ran.status == 2 and device in told.get("what", "") and why in told["what"] and
                     remedy in told["remedy"] and told["what"] in text and told["remedy"] in text,
                     f"{device} by {'variable' if variables else 'option'} does not start: why, and what to do",
                     f"{ran}\n{text}")


def check_settings(tap: Tap, doctor: str) -> None:
    """What somebody set and nobody understands."""
    usual = os.environ.get("GST_DXVA_TEST", "")
    for variable, value, word in (("GST_DXVA_ZEROCOPY", "no", "GST_DXVA_ZEROCOPY=no"),
                                  ("GST_DXVA_SOFTWARE_FALLBACK", "never", "GST_DXVA_SOFTWARE_FALLBACK=never"),
                                  ("GST_DXVA_TEST", f"{usual},memfs", "memfs"),
                                  ("GST_DXVA_ZERO_COPY", "0", "GST_DXVA_ZERO_COPY")):
        _, problems, log = examine(doctor, **{variable: value})
        told = problems.get("not-understood", {})
        tap.case(word in told.get("what", "") and "GST_DXVA_" in told["remedy"], f"{variable}={value} is not understood", log)
    with tempfile.TemporaryDirectory() as folder:
        for setting in "frames=many", "frames=0", "frames=100001", "fils=a.svg":
            _, problems, log = examine(doctor, GST_TRACERS=f"latency;dxva(file={folder}/a.svg,{setting})")
            told = problems.get("not-understood", {})
            tap.case(setting in told.get("what", "") and "frames" in told["remedy"], f"GST_TRACERS: {setting} is not understood",
                     log)
        _, problems, log = examine(doctor, GST_TRACERS=f"dxva(file={folder}/a.svg,frames=100)", GST_DXVA_ZEROCOPY="1")
        tap.case(problems and "not-understood" not in problems, "what is understood is no problem", log)


def check_outputs(tap: Tap, doctor: str) -> None:
    """Whatever the report is written to: it is there, or its loss is said."""
    with tempfile.TemporaryDirectory() as folder:
        outputs.check_refusals(tap, [doctor], "--html", b"<!DOCTYPE html>\n", 64, folder)
        ran = rig.run([doctor, "--html", "-"])
        tap.case(ran.status in OUTCOMES and ran.out.startswith("<!DOCTYPE html>") and ran.out.endswith("</html>\n"),
                 "--html - is the page on stdout, and nothing else", str(ran))
        ran = rig.run([doctor, "--json", "--html", "-"])
        tap.case(ran.status == 64 and "both want stdout" in ran.err, "--json does not go with it", str(ran))
        device = outputs.full_disk(folder)
        if not device:
            tap.skip("a full disk", "device files cannot be made here")
            return
        ran = rig.run([doctor, "--html", str(device)])
        tap.case(ran.status == 64 and "Verdict" in ran.out and f"{device}: No space left" in ran.err and
                 outputs.is_full_disk(device), "a page that is lost is an error, and the text is there", str(ran))
        for options in "", "--json":
            ran = rig.run(f'"{doctor}" {options} >"{device}"')
            tap.case(ran.status == 64 and "stdout: " in ran.err,
                     f"a report that is lost is an error {options}".rstrip(), str(ran))


def check_parts(tap: Tap, doctor: str) -> None:
    """Frames of which some are copied: how many, in the text too, and why."""
    for fault in "export:every=2", "export:from=3", "export:every=3":
        outcome, problems, log = examine(doctor, DXVASOFT_FAULT=fault)
        told = problems.get("export-fails", {})
        copied = json.loads(log)["verdict"]["copies"]["copied"] if problems else 0
        text = rig.run([doctor], DXVASOFT_FAULT=fault).out
        tap.case(outcome == "copies" and 0 < copied < 8 and f"{copied} of 8" in told.get("what", "") and told["remedy"] and
                 f"{copied} of 8 frames are copied (by the CPU {copied}, uploaded to OpenGL {copied})" in text,
                 f"some exports fail ({fault}): counted, and it is said", f"{log}\n{text}")
    outcome, problems, log = examine(doctor, DXVASOFT_LAYOUT="tiled", DXVASOFT_MODIFIERS="not-decoded")
    tap.case(outcome == "copies" and any(problems.get(name, {}).get("remedy") for name in ("tiled-only", "copied-frames")),
             "tiled surfaces that the device copies: copies, and it is said", log)


def check_refusal(tap: Tap, doctor: str) -> None:
    """Who forbids the CPU where no device starts: that, and who decodes instead."""
    ran = rig.run([doctor, "--json"], GST_DXVA_SOFTWARE_FALLBACK="0", GST_DXVA_DEVICE="/dev/dri/renderD255")
    found = json.loads(ran.out)
    others = [one["element"] for one in found["ranks"]["h264"] if one["element"] != "dxvadec"]
    told = {one["id"]: one for one in found["verdict"]["problems"]}.get("software-fallback-off", {})
    tap.case(ran.status == (2 if others else 3) and found["verdict"].get("left-to", "") == (others or [""])[0] and
             "GST_DXVA_SOFTWARE_FALLBACK=0" in told.get("what", "") and (others or ["Unset"])[0] in told["remedy"],
             "no device and no CPU: why, and which decoder is next", str(ran))


def check_remedies(tap: Tap, doctor: str) -> None:
    """Faults that once had a sentence and no remedy, or the wrong sentence."""
    for variables, name, word in (
            ({"GST_DXVA_SOFTWARE_FALLBACK": "0", "DXVASOFT_FAULT": "endpicture:from=3"}, "software-fallback-off", "decode-errors"),
            ({"DXVASOFT_EXPORT": "missing", "DXVASOFT_FAULT": "getimage:every=1,deriveimage:every=1"}, "device-fails", "read-back-failed"),
            ({"DXVASOFT_FAULT": "sync:from=1"}, "device-fails", "sync-failed"),
            ({"GST_DXVA_DEVICE": "cuda:x"}, "asked-device", "cuda:x")):
        _, problems, log = examine(doctor, **variables)
        told = problems.get(name, {})
        known = json.loads(log)["verdict"]["problems"] if problems else []
        tap.case(word in told.get("what", "") and told["remedy"] and [one["id"] for one in known].count(name) == 1,
                 f"{variables}: {name}, once, and a remedy", log)


def check_hangs(tap: Tap, doctor: str, hanging: str) -> None:
    """What hangs is named while it is waited for, and then with its call; what would hang as well is left out."""
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(hanging, Path(folder, "dxvasoft_drv_video.so"))
        ran = rig.run([doctor, "--json"], LIBVA_DRIVERS_PATH=folder, GST_DXVA_SOFTWARE_FALLBACK="0")
    found = json.loads(ran.out)
    told = {one["id"]: one for one in found["verdict"]["problems"]}
    why = "hangs in vaInitialize (dxvasoft_drv_video.so)"
    tap.case(ran.status == 3 and why in told.get("va-driver-crashes", {}).get("what", "") and told["va-driver-crashes"]["remedy"],
             "a driver that hangs when it starts: which, and in which call", str(ran))
    tap.case("dxva-doctor: waiting for the VA-API driver of software\n" in ran.err and "clip" not in ran.err,
             "who waits is told for what", ran.err)
    tap.case(found["decode"]["error"].startswith("not tried: ") and why in found["decode"]["error"] and
             found["gl"]["renderer"] and found["ranks"]["h264"] and not {"software-fallback-off", "decoding-fails"} & set(told),
             "nothing is decoded on that device, and the rest is looked at", str(ran))
    ran = rig.run([doctor, "--json"], DXVASOFT_DECODE_DELAY_MS="60000")
    told = {one["id"]: one for one in json.loads(ran.out)["verdict"]["problems"]}
    tap.case("hangs in vaEndPicture (dxvasoft_drv_video.so)" in told.get("decoding-crashes", {}).get("what", "") and
             "DXVASOFT_DECODE_DELAY_MS=60000" in told["decoding-crashes"]["remedy"],
             "a device that hangs at a picture: in which call, and what to change", str(ran))


def main() -> None:
    doctor, crashing, hanging = sys.argv[1:4]
    if rig.name() == rig.GPU:
        skip_all("the sentences are about the bundled driver, on a machine without a GPU")
    tap = Tap()
    imports = rig.name() == rig.MEMFD
    best = "zero-copy" if imports else "copies"

    outcome, problems, log = examine(doctor)
    tap.case(outcome == best and "bundled-driver" in problems, f"the bundled driver: {best}", log)

    # What GStreamer 1.22's caps cannot name, later ones can, and then EGL does not list it.
    outcome, problems, log = examine(doctor, DXVASOFT_LAYOUT="tiled", DXVASOFT_MODIFIERS="ignored")
    told = problems.get("tiled-only", {})
    tap.case(outcome == "copies" and re.search(r"in a tiled layout \(modifier 0x[0-9a-f]{16}\) that", told.get("what", ""))
             and told.get("remedy"), "tiled surfaces only: copies, and the layout is named", log)

    outcome, problems, log = examine(doctor, DXVASOFT_FAULT="export:from=1")
    told = problems.get("export-fails", {})
    tap.case(outcome == "copies" and "fails" in told.get("what", "") and told.get("remedy"),
             "exports that fail: copies, and it is said", log)

    for fault, reason in (("endpicture:from=3", "decode-errors"), ("createcontext:every=1", "context-not-made")):
        outcome, problems, log = examine(doctor, DXVASOFT_FAULT=fault)
        told = problems.get("device-fails", {})
        tap.case(outcome == "software" and reason in told.get("what", "") and told.get("remedy"),
                 f"a driver that fails at decoding ({fault}): software, and it is said", log)

    outcome, problems, log = examine(doctor, DXVASOFT_EXPORT="missing")
    told = problems.get("export-missing", {})
    tap.case(outcome == "copies" and "cannot hand surfaces over" in told.get("what", "") and told.get("remedy"),
             "a driver without export: copies, and it is said", log)

    if imports:
        check_parts(tap, doctor)
        outcome, problems, log = examine(doctor, rig.on_the_systems_mesa())
        tap.case(outcome == "copies" and "gl-no-import" in problems, "OpenGL without import: copies, and it is said",
                 log)
    else:
        tap.case("gl-no-import" in problems, "OpenGL without import is said", log)

    without = {name: value for name, value in os.environ.items() if name not in ("DISPLAY", "WAYLAND_DISPLAY")}
    outcome, problems, log = examine(doctor, without, GST_GL_WINDOW="x11")
    tap.case(outcome == "copies" and "no-gl" in problems and '"frames" : 8' in log,
             "no OpenGL: said, and what decodes is found out all the same", log)

    for setting, value, words in (("DXVASOFT_PITCH_ALIGN", "a lot", ': cannot read "a lot"'),
                                  ("DXVASOFT_LAYOUT", "nonsense", ': cannot read "nonsense"'),
                                  ("DXVASOFT_LAYOT", "tiled", " is no setting")):
        outcome, problems, log = examine(doctor, **{setting: value})
        told = problems.get("va-driver-broken", {})
        tap.case(outcome == "software" and setting + words in told.get("what", "") and
                 setting in told["remedy"] and "LIBVA_DRIVER_NAME" not in told["remedy"],
                 f"a driver that does not start: software, and {setting} is what to change", log)
    check_asked_device(tap, doctor)
    check_hangs(tap, doctor, hanging)
    check_settings(tap, doctor)
    check_refusal(tap, doctor)
    check_remedies(tap, doctor)

    outcome, problems, log = examine(doctor, DXVASOFT_FAULT="endpicture:from=1")
    tap.case(outcome == "software", "a device that fails at every picture: software, no wrong picture", log)

    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(crashing, Path(folder, "dxvasoft_drv_video.so"))
        outcome, problems, log = examine(doctor, LIBVA_DRIVERS_PATH=folder)
        tap.case(outcome == "broken" and "crashed" in problems.get("va-driver-crashes", {}).get("what", ""),
                 "a driver that crashes: told, and the doctor lives", log)

        report = Path(folder, "report.html")
        ran = rig.run([doctor, f"--html={report}"])
        html = report.read_text(encoding="utf-8") if report.is_file() else ""
        tap.case(html.count("data:image/png;base64,") == 2 and "Verdict" in html,
                 "--html shows the decoded picture beside the right one", f"{ran}\n{html[:500]}")
        pictures = [part.split('"')[0] for part in html.split("data:image/png;base64,")[1:]]
        tap.case(len(pictures) == 2 and pictures[0] == pictures[1], "and they are the same picture", str(ran))
        ran = rig.run([doctor, f"--html={folder}/no/such/folder/report.html"])
        tap.case(ran.status == 64 and "report.html" in ran.err, "a report that cannot be written is an error", str(ran))

    with tempfile.TemporaryDirectory() as folder:
        # GStreamer writes its registry there, by renaming: never name a device.
        ran = rig.run([doctor], GST_PLUGIN_PATH="", GST_REGISTRY=str(Path(folder, "registry.bin")))
    tap.case(ran.status == 3 and "dxvadec" in ran.out.split("Verdict")[-1],
             "elements that are not installed: broken, and what to install", str(ran))
    ran = rig.run([doctor, "--frobnicate"])
    tap.case(ran.status == 64 and "frobnicate" in ran.err, "a wrong command line has its own exit status", str(ran))
    ran = rig.run([doctor])
    said = [line for line in ran.err.splitlines() if not line.startswith("dxva-doctor: waiting for ")]  # a busy machine
    tap.case("Verdict" in ran.out and not said, "the report for people is on stdout, and nothing else", str(ran))
    every_way_of_telling(tap, doctor)
    check_outputs(tap, doctor)
    ran = rig.run(f"\"{doctor}\" --device $'a\\xffb'")
    tap.case(ran.status == 64 and "--device" in ran.err, "a device whose name is no text: it is said which argument", str(ran))
    options = set(re.findall(r"^  (?:-h, )?--([a-z]+)", rig.run([doctor, "--help"]).out, re.MULTILINE))
    manual = MANUAL.read_text(encoding="utf-8").replace("\\-", "-")
    told = set(re.findall(r"--([a-z]+)", manual))
    tap.case({"device", "json", "html", "version"} <= options and options == told, "the manual page has every option, and no other",
             f"{options ^ told} of {options}")
    ran = rig.run([doctor, "--version"])
    asked = rig.run(["pkg-config", "--modversion", "gstreamer-1.0"]).out.strip()
    tap.case(ran.status == 0 and re.fullmatch(rf"dxva-doctor \S+\nGStreamer {re.escape(asked)}.*\nlibva\.so\.2\S*\nlibavcodec [\d.]+\n", ran.out)
             is not None and ran.err == "", "--version: of the program and of its libraries", str(ran))
    tap.case(all(f".B {status}\n" in manual for status in (*OUTCOMES, 64)), "the manual page has every exit status")
    tap.end()


if __name__ == "__main__":
    main()
