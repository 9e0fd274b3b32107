// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <va/va.h>

#include "lib/base/result.hpp"
#include "lib/softva/bits.hpp"

namespace dxva::softva {

// 7.3.4 scaling_list_data() with every coefficient coded: no prediction, no default list. VA's
// lists are in raster order, coded ones along diagonals. BadInput: a coefficient is zero.
// Reentrant.
[[nodiscard]] Status write_hevc_scaling_lists(BitWriter& out,
                                              const VAIQMatrixBufferHEVC& matrix);

}  // namespace dxva::softva
