// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// VA's parameter structs as text, a line for each field, with va.h's names. What a client left
// in a field that says nothing in its picture is shown as well; padding and reserved bits are
// not. Thread rules: reentrant.

#include <va/va.h>

#include <cstddef>
#include <cstring>
#include <functional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace dxva::softva {

class ParameterText {
 public:
  // What a surface is called.
  using SurfaceName = std::function<std::string(VASurfaceID)>;
  explicit ParameterText(SurfaceName surface_name) : surface_name_(std::move(surface_name)) {}

  // Fields that follow are of this struct: "picture", "slice[3]", "picture.CurrPic".
  void section(std::string name) { section_ = std::move(name); }
  [[nodiscard]] const std::string& section() const { return section_; }

  void line(std::string_view name, std::string_view value);

  // A number, or an array of any rank: its innermost rows are one line each. In names of bit
  // fields what va.h puts between (".bits", ".fields") is left out.
  template <typename T>
  void put(std::string_view name, const T& value) {
    if constexpr (std::is_array_v<T>) {
      if constexpr (std::rank_v<T> == 1) {
        std::string row;
        for (const auto& item : value) row += (row.empty() ? "" : " ") + number(item);
        line(name, row);
      } else {
        size_t index = 0;
        for (const auto& item : value)
          put(std::string(name) + "[" + std::to_string(index++) + "]", item);
      }
    } else {
      line(name, number(value));
    }
  }

  void surface(std::string_view name, VASurfaceID id) { line(name, surface_name_(id)); }
  template <size_t kCount>
  void surfaces(std::string_view name, const VASurfaceID (&ids)[kCount]) {
    std::string row;
    for (const VASurfaceID id : ids) row += (row.empty() ? "" : " ") + surface_name_(id);
    line(name, row);
  }

  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  template <typename T>
  static std::string number(const T& value) {
    if constexpr (std::is_enum_v<T>) {
      // A client's bytes need not be one of its values, and must not be read as such.
      std::underlying_type_t<T> bytes;
      std::memcpy(&bytes, &value, sizeof bytes);
      return std::to_string(bytes);
    } else {
      return std::to_string(value);
    }
  }

  SurfaceName surface_name_;
  std::string section_;
  std::string text_;
};

// One element of a parameter buffer; false: the buffer is too small for it, or its type is not
// one of the codec's.
struct ParameterBuffer;
using WriteParameters = bool (*)(const ParameterBuffer& buffer, size_t index,
                                 ParameterText& text);

bool write_h264_parameters(const ParameterBuffer& buffer, size_t index, ParameterText& text);
bool write_hevc_parameters(const ParameterBuffer& buffer, size_t index, ParameterText& text);
bool write_vp8_parameters(const ParameterBuffer& buffer, size_t index, ParameterText& text);
bool write_vp9_parameters(const ParameterBuffer& buffer, size_t index, ParameterText& text);
bool write_mpeg2_parameters(const ParameterBuffer& buffer, size_t index, ParameterText& text);
bool write_jpeg_parameters(const ParameterBuffer& buffer, size_t index, ParameterText& text);
bool write_av1_parameters(const ParameterBuffer& buffer, size_t index, ParameterText& text);

}  // namespace dxva::softva
