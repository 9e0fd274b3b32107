// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/common/known_colorimetry.hpp"

#include <cstring>

namespace dxva::gst {
namespace {

template <typename Enum>
void forget_unless_known(Enum& part, GType type, Enum unknown) {
  // Not read as what it is: an enum without that value may not be loaded.
  gint value = 0;
  static_assert(sizeof value == sizeof part);
  std::memcpy(&value, &part, sizeof value);
  auto* known = static_cast<GEnumClass*>(g_type_class_ref(type));
  if (!g_enum_get_value(known, value)) part = unknown;
  g_type_class_unref(known);
}

}  // namespace

void forget_unknown_parts(GstVideoColorimetry& colorimetry) {
  forget_unless_known(colorimetry.range, GST_TYPE_VIDEO_COLOR_RANGE,
                      GST_VIDEO_COLOR_RANGE_UNKNOWN);
  forget_unless_known(colorimetry.matrix, GST_TYPE_VIDEO_COLOR_MATRIX,
                      GST_VIDEO_COLOR_MATRIX_UNKNOWN);
  forget_unless_known(colorimetry.transfer, GST_TYPE_VIDEO_TRANSFER_FUNCTION,
                      GST_VIDEO_TRANSFER_UNKNOWN);
  forget_unless_known(colorimetry.primaries, GST_TYPE_VIDEO_COLOR_PRIMARIES,
                      GST_VIDEO_COLOR_PRIMARIES_UNKNOWN);
}

}  // namespace dxva::gst
