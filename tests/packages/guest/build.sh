#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# In a root for building, with a copy of the tree in /build/source: source and binary packages in /build, and what
# lintian says of them in /build/lintian.txt.

set -euo pipefail
cd /build/source
version=$(dpkg-parsechangelog -S Version)
tar -C /build -caf "/build/gst-dxva_${version%-*}.orig.tar.gz" --exclude=source/debian source
# No debug information and no packages of it: nobody installs them here, and they cost a third of the time.
export PATH=/usr/lib/ccache:$PATH DEB_CXXFLAGS_STRIP=-g DEB_BUILD_OPTIONS="noautodbgsym parallel=$(nproc)"
dpkg-buildpackage -us -uc
# Translators' target, for which the tree must be writable.
meson compile -C obj-*/ gst-dxva-pot
lintian --allow-root --tag-display-limit 0 /build/*.changes >/build/lintian.txt 2>&1 || true
