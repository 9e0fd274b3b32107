// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Buffers as a VA client renders them, for tests that make pictures by hand.

#include <va/va.h>

#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "lib/softva/frame_decoder.hpp"

namespace dxva::test {

using Bytes = std::vector<uint8_t>;

template <typename T>
softva::ParameterBuffer parameter_buffer(VABufferType type, const T& value) {
  softva::ParameterBuffer buffer{.type = type, .element_bytes = sizeof(T), .element_count = 1};
  buffer.bytes.resize(sizeof(T));
  std::memcpy(buffer.bytes.data(), &value, sizeof(T));
  return buffer;
}

inline softva::ParameterBuffer data_buffer(Bytes bytes) {
  return {.type = VASliceDataBufferType,
          .element_bytes = static_cast<uint32_t>(bytes.size()),
          .element_count = 1,
          .bytes = std::move(bytes)};
}

// Adds a slice to a picture: its parameters, then its data, all of it.
template <typename SliceParameters>
void render_whole_slice(softva::Picture& to, SliceParameters slice, Bytes data) {
  slice.slice_data_size = static_cast<uint32_t>(data.size());
  slice.slice_data_offset = 0;
  slice.slice_data_flag = VA_SLICE_DATA_FLAG_ALL;
  to.buffers.push_back(parameter_buffer(VASliceParameterBufferType, slice));
  to.buffers.push_back(data_buffer(std::move(data)));
}

}  // namespace dxva::test
