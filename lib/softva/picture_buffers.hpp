// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// From a Picture's raw buffers to VA structs, for every codec. All numbers in them come from
// the client: what is handed out lies inside the buffers. Thread rules: reentrant.

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

#include "lib/softva/frame_decoder.hpp"

namespace dxva::softva {

[[nodiscard]] inline Error bad_input(const char* text) {
  return Error{.code = ErrorCode::BadInput, .call = "vaEndPicture", .text = text};
}

// Element `index` of a buffer; nothing when the buffer is too small for it.
template <typename T>
[[nodiscard]] std::optional<T> element(const ParameterBuffer& buffer, size_t index = 0) {
  static_assert(std::is_trivially_copyable_v<T>);
  const size_t step = buffer.element_bytes;
  if (step < sizeof(T) || index >= buffer.bytes.size() / step) return std::nullopt;
  T value;
  std::memcpy(&value, buffer.bytes.data() + index * step, sizeof(T));
  return value;
}

// The only buffer of a type; the last one when a client sent it twice.
template <typename T>
[[nodiscard]] std::optional<T> find_parameters(const Picture& picture, VABufferType type) {
  std::optional<T> found;
  for (const ParameterBuffer& buffer : picture.buffers) {
    if (buffer.type == type) found = element<T>(buffer);
  }
  return found;
}

template <typename T>
struct Slice {
  T parameters;
  std::span<const uint8_t> data;  // of the Picture; never empty
};

// From where a client counts slice_data_size.
enum class SliceSize : uint8_t {
  OfSlice,   // slice_data_offset, as va.h has it
  OfBuffer,  // maybe the buffer's first byte: a slice that is too long ends with the buffer
};

// A data buffer belongs to all slice parameters rendered since the last data buffer. Slices do
// not share bytes, so what a decoder reads is bounded by what the client sent.
template <typename T>
[[nodiscard]] Result<std::vector<Slice<T>>> collect_slices(
    const Picture& picture, SliceSize counted = SliceSize::OfSlice) {
  std::vector<Slice<T>> slices;
  std::vector<T> pending;
  for (const ParameterBuffer& buffer : picture.buffers) {
    if (buffer.type == VASliceParameterBufferType) {
      for (size_t i = 0; i < buffer.element_count; ++i) {
        const std::optional<T> parameters = element<T>(buffer, i);
        if (!parameters) return bad_input("slice parameter buffer too small");
        pending.push_back(*parameters);
      }
    } else if (buffer.type == VASliceDataBufferType) {
      if (pending.empty()) return bad_input("slice data without slice parameters");
      const std::span<const uint8_t> bytes = buffer.bytes;
      size_t unclaimed = bytes.size();
      for (const T& parameters : pending) {
        if (parameters.slice_data_flag != VA_SLICE_DATA_FLAG_ALL)
          return bad_input("slice split over several buffers");
        const size_t offset = parameters.slice_data_offset;
        size_t size = parameters.slice_data_size;
        if (counted == SliceSize::OfBuffer && size <= bytes.size() && offset < bytes.size())
          size = std::min(size, bytes.size() - offset);
        if (size == 0 || offset > bytes.size() || size > bytes.size() - offset)
          return bad_input("slice outside its data buffer");
        if (size > unclaimed) return bad_input("slices overlap");
        unclaimed -= size;
        slices.push_back({.parameters = parameters, .data = bytes.subspan(offset, size)});
      }
      pending.clear();
    }
  }
  if (!pending.empty()) return bad_input("slice parameters without slice data");
  if (slices.empty()) return bad_input("picture without slices");
  return slices;
}

}  // namespace dxva::softva
