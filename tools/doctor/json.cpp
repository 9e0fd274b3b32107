// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tools/doctor/json.hpp"

namespace dxva::doctor {
namespace {

JsonObject* object_of(const std::shared_ptr<JsonNode>& node) {
  return node && JSON_NODE_HOLDS_OBJECT(node.get()) ? json_node_get_object(node.get())
                                                    : nullptr;
}
JsonArray* array_of(const std::shared_ptr<JsonNode>& node) {
  return node && JSON_NODE_HOLDS_ARRAY(node.get()) ? json_node_get_array(node.get()) : nullptr;
}
bool holds(const std::shared_ptr<JsonNode>& node, GType type) {
  return node && JSON_NODE_HOLDS_VALUE(node.get()) &&
         json_node_get_value_type(node.get()) == type;
}

}  // namespace

Json Json::object() {
  JsonNode* node = json_node_new(JSON_NODE_OBJECT);
  json_node_take_object(node, json_object_new());
  return Json(node);
}

Json Json::array() {
  JsonNode* node = json_node_new(JSON_NODE_ARRAY);
  json_node_take_array(node, json_array_new());
  return Json(node);
}

std::optional<Json> Json::parse(const std::string& text) {
  JsonNode* node = json_from_string(text.c_str(), nullptr);
  if (!node) return std::nullopt;
  return Json(node);
}

Json Json::at(std::string_view path) const {
  Json here = *this;
  while (here.exists() && !path.empty()) {
    const size_t slash = path.find('/');
    const std::string name(path.substr(0, slash));
    path = slash == std::string_view::npos ? std::string_view() : path.substr(slash + 1);
    JsonObject* object = object_of(here.node_);
    JsonNode* member = object ? json_object_get_member(object, name.c_str()) : nullptr;
    here = member ? Json(json_node_ref(member)) : Json();
  }
  return here;
}

std::string Json::text() const {
  const char* text = holds(node_, G_TYPE_STRING) ? json_node_get_string(node_.get()) : nullptr;
  return text ? text : "";
}

int64_t Json::number() const {
  return holds(node_, G_TYPE_INT64) ? json_node_get_int(node_.get()) : 0;
}

bool Json::flag() const {
  return holds(node_, G_TYPE_BOOLEAN) && json_node_get_boolean(node_.get());
}

std::vector<Json> Json::items() const {
  std::vector<Json> out;
  JsonArray* array = array_of(node_);
  for (guint i = 0; array && i < json_array_get_length(array); ++i)
    out.push_back(Json(json_node_ref(json_array_get_element(array, i))));
  return out;
}

std::vector<std::string> Json::names() const {
  std::vector<std::string> out;
  JsonObject* object = object_of(node_);
  GList* members = object ? json_object_get_members(object) : nullptr;
  for (GList* each = members; each; each = each->next)
    out.emplace_back(static_cast<const char*>(each->data));
  g_list_free(members);
  return out;
}

void Json::set(const char* name, const std::string& value) {
  // What drivers say of themselves need not be UTF-8.
  char* valid = g_utf8_make_valid(value.data(), static_cast<gssize>(value.size()));
  if (JsonObject* object = object_of(node_)) json_object_set_string_member(object, name, valid);
  g_free(valid);
}

void Json::set(const char* name, int64_t value) {
  if (JsonObject* object = object_of(node_)) json_object_set_int_member(object, name, value);
}

void Json::set(const char* name, bool value) {
  if (JsonObject* object = object_of(node_))
    json_object_set_boolean_member(object, name, value);
}

void Json::set(const char* name, const Json& value) {
  JsonObject* object = object_of(node_);
  if (object && value.exists())
    json_object_set_member(object, name, json_node_ref(value.node_.get()));
}

void Json::add(const std::string& value) {
  char* valid = g_utf8_make_valid(value.data(), static_cast<gssize>(value.size()));
  if (JsonArray* array = array_of(node_)) json_array_add_string_element(array, valid);
  g_free(valid);
}

void Json::add(const Json& value) {
  JsonArray* array = array_of(node_);
  if (array && value.exists()) json_array_add_element(array, json_node_ref(value.node_.get()));
}

std::string Json::to_text() const {
  if (!node_) return "null";
  char* text = json_to_string(node_.get(), TRUE);
  const std::string out = text;
  g_free(text);
  return out;
}

}  // namespace dxva::doctor
