# SPDX-License-Identifier: LGPL-2.1-or-later
# Sourced inside the root, in the chroot and in the virtual machine alike: the environment that ./dev makes,
# for the build in /build.

root=/project build=/build keep=/build
source /project/tools/dev/say.sh
source /project/tools/dev/mesa.sh
source /project/tools/dev/environment.sh
enter_environment
