// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <va/va.h>

#include <cstdint>

namespace dxva::softva {

struct Driver;

// Widest and highest picture or surface, pixels: above what any level of our codecs allows.
inline constexpr uint32_t kMaxSize = 8192;
// Most attributes that vaQueryConfigAttributes returns.
inline constexpr int kMaxConfigAttributes = 8;

// A way of decoding that a client chose.
struct Config {
  VAProfile profile;
  VAEntrypoint entrypoint;
  uint32_t rt_formats;  // VA_RT_FORMAT_* bits
};

VAStatus query_config_profiles(Driver& driver, VAProfile* list, int* count);
VAStatus query_config_entrypoints(Driver& driver, VAProfile profile, VAEntrypoint* list,
                                  int* count);
VAStatus get_config_attributes(Driver& driver, VAProfile profile, VAEntrypoint entrypoint,
                               VAConfigAttrib* list, int count);
VAStatus create_config(Driver& driver, VAProfile profile, VAEntrypoint entrypoint,
                       VAConfigAttrib* list, int count, VAConfigID* id);
VAStatus destroy_config(Driver& driver, VAConfigID id);
VAStatus query_config_attributes(Driver& driver, VAConfigID id, VAProfile* profile,
                                 VAEntrypoint* entrypoint, VAConfigAttrib* list, int* count);

}  // namespace dxva::softva
