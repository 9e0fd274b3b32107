// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// What the probes find is one JSON document: children hand it over as text, --json prints it,
// the verdict and the reports read it. json-glib holds it; this only makes it short to use.

#include <json-glib/json-glib.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dxva::doctor {

struct NodeFree {
  void operator()(JsonNode* node) const { json_node_unref(node); }
};

// A value of the document; shares it. A missing value is there as well: it reads as empty, zero
// or false, because every fact may be missing on some machine. Reentrant.
class Json {
 public:
  Json() = default;  // nothing
  [[nodiscard]] static Json object();
  [[nodiscard]] static Json array();
  [[nodiscard]] static std::optional<Json> parse(const std::string& text);

  [[nodiscard]] bool exists() const { return node_ != nullptr; }
  // "decode/reasons/export-failed": members of members.
  [[nodiscard]] Json at(std::string_view path) const;
  [[nodiscard]] std::string text() const;
  [[nodiscard]] int64_t number() const;
  [[nodiscard]] bool flag() const;
  [[nodiscard]] std::vector<Json> items() const;         // of an array
  [[nodiscard]] std::vector<std::string> names() const;  // of an object's members

  // Into an object.
  void set(const char* name, const std::string& value);
  void set(const char* name, const char* value) { set(name, std::string(value)); }
  void set(const char* name, int64_t value);
  void set(const char* name, bool value);
  void set(const char* name, const Json& value);
  // Into an array.
  void add(const std::string& value);
  void add(const Json& value);

  [[nodiscard]] std::string to_text() const;  // indented

 private:
  explicit Json(JsonNode* node) : node_(node, NodeFree()) {}
  std::shared_ptr<JsonNode> node_;
};

}  // namespace dxva::doctor
