#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What `meson install` lays down, and what `meson devenv` finds without it.

installed.py BUILD"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

import rig  # noqa: E402
from tap import Tap  # noqa: E402

ROOT = Path(__file__).resolve().parents[3]
BUILD = Path(sys.argv[1])
# What ./dev has set for the build; GStreamer and libva must do without.
DEVS_OWN = ("GST_PLUGIN_PATH", "LIBVA_DRIVERS_PATH", "TEXTDOMAINDIR")


def plain() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name not in DEVS_OWN}


def asked(package: str, variable: str) -> str:
    """What the installed GStreamer or libva says of where it looks."""
    return subprocess.run(["pkg-config", f"--variable={variable}", package], stdout=subprocess.PIPE, text=True,
                          check=True).stdout.strip()


def prefix() -> str:
    answer = subprocess.run(["meson", "introspect", "--buildoptions", str(BUILD)], stdout=subprocess.PIPE, text=True,
                            check=True).stdout
    return next(option["value"] for option in json.loads(answer) if option["name"] == "prefix")


def file_of(ran: rig.Ran) -> str:
    """The plugin's file, of what gst-inspect prints."""
    found = [line.split(None, 1)[1] for line in ran.out.splitlines() if line.split()[:1] == ["Filename"]]
    return found[0].strip() if found else ""


def install(tap: Tap, folder: Path) -> None:
    ran = rig.run(["meson", "install", "-C", str(BUILD), "--no-rebuild", "--destdir", str(folder)])
    if not tap.case(ran.status == 0, "meson install", str(ran)[-2000:]):
        return
    here = prefix()
    looked_into = here in ("/usr/local", asked("gstreamer-1.0", "prefix"))
    plugins, drivers = asked("gstreamer-1.0", "pluginsdir"), asked("libva", "driverdir")
    if looked_into:
        for file in (f"{plugins}/libgstdxva.so", f"{plugins}/libgstdxvagl.so", f"{drivers}/dxvasoft_drv_video.so"):
            tap.case(Path(f"{folder}{file}").is_file(), f"{file} is where it is looked for", str(ran)[-2000:])
    else:
        tap.skip("the plugins are where they are looked for", f"the prefix is {here}, one of somebody's own")
        plugins = str(next(folder.rglob("libgstdxva.so")).parent)[len(str(folder)):]
        drivers = str(next(folder.rglob("dxvasoft_drv_video.so")).parent)[len(str(folder)):]

    # As if / was there.
    environment = dict(plain(), GST_PLUGIN_PATH=f"{folder}{plugins}", LIBVA_DRIVERS_PATH=f"{folder}{drivers}",
                       GST_REGISTRY=f"{folder}/registry.bin")
    for element in ("dxvadec", "dxvaglupload", "dxvaglsink"):
        ran = rig.run(["gst-inspect-1.0", element], environment)
        tap.case(file_of(ran).startswith(str(folder)), f"gst-inspect-1.0 {element} finds what was installed",
                 str(ran)[-2000:])
    ran = rig.run([f"{folder}{here}/bin/dxva-doctor", "--json"], dict(environment, GST_DXVA_DEVICE="software"))
    found = json.loads(ran.out) if ran.status in (0, 1) else {}
    tap.case(bool(found) and found["decode"]["frames"] == found["decode"]["sent"] and
             "software" in found["decode"]["decoder"]["device"],
             "the installed dxva-doctor decodes with the installed driver", str(ran)[-2000:])
    tap.case(Path(f"{folder}{here}/share/man/man1/dxva-doctor.1").is_file(), "its manual page is installed")
    pages = Path(f"{folder}{here}/share/doc/gst-dxva")
    missing = [page.stem for page in (ROOT / "docs" / "plugins").glob("*.md")
               if not (pages / page.name).is_file() and not (pages / "html" / f"{page.stem}.html").is_file()]
    tap.case(not missing, "the pages for users are installed", f"missing: {missing}")


def devenv(tap: Tap, folder: Path) -> None:
    """Without ./dev: what somebody types who knows meson."""
    environment = dict(plain(), XDG_CACHE_HOME=str(folder))
    environment.pop("GST_REGISTRY", None)
    ran = rig.run(["meson", "devenv", "-C", str(BUILD), "gst-inspect-1.0", "dxvadec"], environment)
    tap.case(file_of(ran).startswith(str(BUILD.resolve())), "meson devenv: gst-inspect-1.0 finds the build", str(ran)[-2000:])
    ran = rig.run(["meson", "devenv", "-C", str(BUILD), "dxva-doctor", "--json"],
                  dict(environment, GST_DXVA_DEVICE="software"))
    found = json.loads(ran.out) if ran.status in (0, 1) else {}
    tap.case(bool(found) and "software" in found["decode"]["decoder"]["device"],
             "meson devenv: dxva-doctor is found, and the bundled driver", str(ran)[-2000:])
    environment.pop("LIBVA_DRIVERS_PATH", None)
    system = rig.run(["pkg-config", "--variable=driverdir", "libva"]).out.strip()
    ran = rig.run(["meson", "devenv", "-C", str(BUILD), "sh", "-c", "echo $LIBVA_DRIVERS_PATH"], environment)
    tap.case(bool(system) and ran.out.split()[-1].split(":")[1:] == [system],
             "meson devenv: drivers of the system are found behind the bundled one", str(ran)[-2000:])


def main() -> None:
    tap = Tap()
    with tempfile.TemporaryDirectory() as folder:
        install(tap, Path(folder))
        devenv(tap, Path(folder))
    tap.end()


if __name__ == "__main__":
    main()
