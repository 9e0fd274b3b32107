// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// What the files parameters_*.cpp share. They name every field of va.h's structs for a codec,
// in va.h's order.

#include <optional>
#include <string>

#include "lib/softva/parameter_text.hpp"
#include "lib/softva/picture_buffers.hpp"

// A field of the struct `p`: its name as va.h has it, and its value.
#define FIELD(name) text.put(#name, p.name)
// The same of the struct `item`, in an array of them.
#define ITEM(name) text.put(#name, item.name)

namespace dxva::softva {

template <typename T>
bool write_element(const ParameterBuffer& buffer, size_t index, ParameterText& text,
                   void (*write)(const T&, ParameterText&)) {
  const std::optional<T> parameters = element<T>(buffer, index);
  if (parameters) write(*parameters, text);
  return parameters.has_value();
}

// The structs of an array, each in a section of its own.
template <typename T, size_t kCount, typename Write>
void write_each(const std::string& name, const T (&items)[kCount], ParameterText& text,
                Write write) {
  const std::string section = text.section();
  for (size_t i = 0; i < kCount; ++i) {
    text.section(section + "." + name + "[" + std::to_string(i) + "]");
    write(items[i]);
  }
  text.section(section);
}

}  // namespace dxva::softva
