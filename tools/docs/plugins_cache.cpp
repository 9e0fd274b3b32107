// SPDX-License-Identifier: LGPL-2.1-or-later
//
// dxva-plugins-cache: what the built plugins say of themselves, as the JSON that GStreamer's
// documentation is made of (docs/plugins/gst_plugins_cache.json; in GStreamer's own tree the
// file of that name comes from a program that distributions do not ship). Only what is ours is
// in it, none of the base classes' properties, so that it does not change with GStreamer.
//
//   dxva-plugins-cache PLUGIN.so...               prints the cache
//   dxva-plugins-cache --output FILE PLUGIN.so... writes it
//   dxva-plugins-cache --stats PLUGIN.so...       prints "ELEMENT FIELD", one of `stats` a line
#include <gst/gst.h>
#include <json-glib/json-glib.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace {

struct Free {
  void operator()(char* text) const { g_free(text); }
};
using Text = std::unique_ptr<char, Free>;

// An object's members come in the order of their names.
class Json {
 public:
  Json() : builder_(json_builder_new()) {}
  ~Json() { g_object_unref(builder_); }
  Json(const Json&) = delete;
  Json& operator=(const Json&) = delete;

  void name(const char* name) { json_builder_set_member_name(builder_, name); }
  void begin(const char* member) {
    if (member) name(member);
    json_builder_begin_object(builder_);
  }
  void end() { json_builder_end_object(builder_); }
  void begin_list(const char* member) {
    name(member);
    json_builder_begin_array(builder_);
  }
  void end_list() { json_builder_end_array(builder_); }
  void item(const char* value) { json_builder_add_string_value(builder_, value); }
  void text(const char* member, const char* value) {
    name(member);
    item(value ? value : "");
  }
  void flag(const char* member, bool value) {
    name(member);
    json_builder_add_boolean_value(builder_, value);
  }
  [[nodiscard]] std::string printed() const {
    JsonGenerator* generator = json_generator_new();
    json_generator_set_pretty(generator, TRUE);
    json_generator_set_indent(generator, 4);
    JsonNode* root = json_builder_get_root(builder_);
    json_generator_set_root(generator, root);
    const Text out(json_generator_to_data(generator, nullptr));
    json_node_unref(root);
    g_object_unref(generator);
    return std::string(out.get()) + "\n";
  }

 private:
  JsonBuilder* builder_;
};

// Types that properties use and our plugins define; written last.
using Types = std::map<std::string, GType>;

// --- properties

const char* mutable_when(const GParamSpec* spec) {
  if (spec->flags & GST_PARAM_MUTABLE_PLAYING) return "playing";
  if (spec->flags & GST_PARAM_MUTABLE_PAUSED) return "paused";
  if (spec->flags & GST_PARAM_MUTABLE_READY) return "ready";
  return "null";
}

std::string real(double value) {
  char text[G_ASCII_DTOSTR_BUF_SIZE];
  return g_ascii_dtostr(text, sizeof text, value);
}

std::string default_of(GParamSpec* spec) {
  const GValue* value = g_param_spec_get_default_value(spec);
  if (G_VALUE_HOLDS_BOXED(value) || G_VALUE_HOLDS_OBJECT(value)) return "NULL";
  if (G_VALUE_HOLDS_STRING(value))
    return g_value_get_string(value) ? g_value_get_string(value) : "NULL";
  if (G_VALUE_HOLDS_DOUBLE(value)) return real(g_value_get_double(value));
  if (G_VALUE_HOLDS_ENUM(value)) {
    auto* all = static_cast<GEnumClass*>(g_type_class_ref(spec->value_type));
    const GEnumValue* one = g_enum_get_value(all, g_value_get_enum(value));
    const std::string out =
        one ? std::string(one->value_nick) + " (" + std::to_string(one->value) + ")" : "";
    g_type_class_unref(all);
    return out;
  }
  const Text text(gst_value_serialize(value));
  return text ? text.get() : "";
}

void add_range(Json& json, GParamSpec* spec) {
  const auto range = [&json](const std::string& least, const std::string& most) {
    json.text("max", most.c_str());
    json.text("min", least.c_str());
  };
  if (G_IS_PARAM_SPEC_UINT(spec)) {
    const auto* of = G_PARAM_SPEC_UINT(spec);
    range(std::to_string(of->minimum), std::to_string(of->maximum));
  } else if (G_IS_PARAM_SPEC_INT64(spec)) {
    const auto* of = G_PARAM_SPEC_INT64(spec);
    range(std::to_string(of->minimum), std::to_string(of->maximum));
  } else if (G_IS_PARAM_SPEC_UINT64(spec)) {
    const auto* of = G_PARAM_SPEC_UINT64(spec);
    range(std::to_string(of->minimum), std::to_string(of->maximum));
  } else if (G_IS_PARAM_SPEC_DOUBLE(spec)) {
    const auto* of = G_PARAM_SPEC_DOUBLE(spec);
    range(real(of->minimum), real(of->maximum));
  }
}

void add_property(Json& json, GParamSpec* spec, Types& types) {
  json.begin(spec->name);
  json.text("blurb", g_param_spec_get_blurb(spec));
  json.flag("conditionally-available", (spec->flags & GST_PARAM_CONDITIONALLY_AVAILABLE) != 0);
  json.flag("construct", (spec->flags & G_PARAM_CONSTRUCT) != 0);
  json.flag("construct-only", (spec->flags & G_PARAM_CONSTRUCT_ONLY) != 0);
  json.flag("controllable", (spec->flags & GST_PARAM_CONTROLLABLE) != 0);
  json.text("default", default_of(spec).c_str());
  add_range(json, spec);
  json.text("mutable", mutable_when(spec));
  json.flag("readable", (spec->flags & G_PARAM_READABLE) != 0);
  const char* type = g_type_name(spec->value_type);
  json.text("type", type);
  json.flag("writable", (spec->flags & G_PARAM_WRITABLE) != 0);
  json.end();
  if (G_TYPE_IS_ENUM(spec->value_type) && std::strncmp(type, "GstDxva", 7) == 0)
    types[type] = spec->value_type;
}

void add_properties(Json& json, GObjectClass* klass, Types& types) {
  guint count = 0;
  GParamSpec** specs = g_object_class_list_properties(klass, &count);
  std::sort(specs, specs + count, [](const GParamSpec* a, const GParamSpec* b) {
    return std::strcmp(a->name, b->name) < 0;
  });
  json.begin("properties");
  for (guint i = 0; i < count; ++i)
    if (specs[i]->owner_type == G_OBJECT_CLASS_TYPE(klass)) add_property(json, specs[i], types);
  json.end();
  g_free(specs);
}

// --- the rest of a type

void add_hierarchy(Json& json, GType type) {
  json.begin_list("hierarchy");
  for (GType at = type; at != 0; at = g_type_parent(at)) json.item(g_type_name(at));
  json.end_list();
}

void add_interfaces(Json& json, GType type) {
  guint count = 0;
  GType* all = g_type_interfaces(type, &count);
  std::vector<std::string> names;
  for (guint i = 0; i < count; ++i) names.emplace_back(g_type_name(all[i]));
  g_free(all);
  if (names.empty()) return;
  std::sort(names.begin(), names.end());
  json.begin_list("interfaces");
  for (const std::string& name : names) json.item(name.c_str());
  json.end_list();
}

void add_signals(Json& json, GType type) {
  guint count = 0;
  guint* ids = g_signal_list_ids(type, &count);
  if (count > 0) json.begin("signals");
  for (guint i = 0; i < count; ++i) {
    GSignalQuery signal;
    g_signal_query(ids[i], &signal);
    json.begin(signal.signal_name);
    json.flag("action", (signal.signal_flags & G_SIGNAL_ACTION) != 0);
    json.begin_list("args");
    for (guint a = 0; a < signal.n_params; ++a) json.item(g_type_name(signal.param_types[a]));
    json.end_list();
    json.text("return-type", g_type_name(signal.return_type));
    json.text("when", (signal.signal_flags & G_SIGNAL_RUN_FIRST) ? "first" : "last");
    json.end();
  }
  if (count > 0) json.end();
  g_free(ids);
}

// "{ (string)NV12, (string)P010_10LE }" without what every reader knows.
std::string without_types(std::string text) {
  static constexpr std::string_view kType = "(string)";
  for (size_t at; (at = text.find(kType)) != std::string::npos;) text.erase(at, kType.size());
  return text;
}

// A structure a paragraph, a field a line, as gst-inspect-1.0 has them.
std::string caps_text(const GstCaps* caps) {
  if (gst_caps_is_any(caps)) return "ANY";
  std::string out;
  for (guint i = 0; i < gst_caps_get_size(caps); ++i) {
    const GstStructure* structure = gst_caps_get_structure(caps, i);
    out += gst_structure_get_name(structure);
    const GstCapsFeatures* features = gst_caps_get_features(caps, i);
    if (features &&
        !gst_caps_features_is_equal(features, GST_CAPS_FEATURES_MEMORY_SYSTEM_MEMORY)) {
      const Text text(gst_caps_features_to_string(features));
      out += std::string("(") + text.get() + ")";
    }
    out += ":\n";
    for (gint f = 0; f < gst_structure_n_fields(structure); ++f) {
      const char* name = gst_structure_nth_field_name(structure, static_cast<guint>(f));
      const Text value(gst_value_serialize(gst_structure_get_value(structure, name)));
      const Text line(g_strdup_printf("%15s: ", name));
      out += std::string(line.get()) + without_types(value.get()) + "\n";
    }
  }
  return out;
}

void add_pad_templates(Json& json, GstElementClass* klass) {
  json.begin("pad-templates");
  for (GList* one = gst_element_class_get_pad_template_list(klass); one; one = one->next) {
    auto* form = static_cast<GstPadTemplate*>(one->data);
    GstCaps* caps = gst_pad_template_get_documentation_caps(form);
    json.begin(GST_PAD_TEMPLATE_NAME_TEMPLATE(form));
    json.text("caps", caps_text(caps).c_str());
    json.text("direction", GST_PAD_TEMPLATE_DIRECTION(form) == GST_PAD_SRC ? "src" : "sink");
    json.text("presence", "always");
    json.end();
    gst_caps_unref(caps);
  }
  json.end();
}

std::string rank_text(guint rank) {
  if (rank == GST_RANK_NONE) return "none";
  if (rank >= GST_RANK_PRIMARY)
    return rank == GST_RANK_PRIMARY ? "primary"
                                    : "primary + " + std::to_string(rank - GST_RANK_PRIMARY);
  return std::to_string(rank);
}

void add_element(Json& json, GstElementFactory* factory, Types& types) {
  const GType type = gst_element_factory_get_element_type(factory);
  auto* klass = static_cast<GObjectClass*>(g_type_class_ref(type));
  const auto told = [factory](const char* key) {
    return gst_element_factory_get_metadata(factory, key);
  };
  json.begin(GST_OBJECT_NAME(factory));
  json.text("author", told(GST_ELEMENT_METADATA_AUTHOR));
  json.text("description", told(GST_ELEMENT_METADATA_DESCRIPTION));
  add_hierarchy(json, type);
  add_interfaces(json, type);
  json.text("klass", told(GST_ELEMENT_METADATA_KLASS));
  json.text("long-name", told(GST_ELEMENT_METADATA_LONGNAME));
  add_pad_templates(json, GST_ELEMENT_CLASS(klass));
  add_properties(json, klass, types);
  json.text("rank",
            rank_text(gst_plugin_feature_get_rank(GST_PLUGIN_FEATURE(factory))).c_str());
  add_signals(json, type);
  json.end();
  g_type_class_unref(klass);
}

void add_tracer(Json& json, GstTracerFactory* factory, Types& types) {
  const GType type = gst_tracer_factory_get_tracer_type(factory);
  auto* klass = static_cast<GObjectClass*>(g_type_class_ref(type));
  json.begin(GST_OBJECT_NAME(factory));
  add_hierarchy(json, type);
  add_properties(json, klass, types);
  add_signals(json, type);
  json.end();
  g_type_class_unref(klass);
}

void add_types(Json& json, const Types& types) {
  json.begin("other-types");
  for (const auto& [name, type] : types) {
    auto* klass = static_cast<GEnumClass*>(g_type_class_ref(type));
    json.begin(name.c_str());
    json.text("kind", "enum");
    json.begin_list("values");
    for (guint i = 0; i < klass->n_values; ++i) {
      const GEnumValue& value = klass->values[i];
      json.begin(nullptr);
      json.text("desc", value.value_name);
      json.text("name", value.value_nick);
      json.text("value", std::to_string(value.value).c_str());
      json.end();
    }
    json.end_list();
    json.end();
    g_type_class_unref(klass);
  }
  json.end();
}

// --- plugins

std::vector<GstPluginFeature*> features_of(GstPlugin* plugin, GType kind) {
  GList* all =
      gst_registry_get_feature_list_by_plugin(gst_registry_get(), gst_plugin_get_name(plugin));
  std::vector<GstPluginFeature*> out;
  for (GList* one = all; one; one = one->next)
    if (G_TYPE_CHECK_INSTANCE_TYPE(one->data, kind))
      out.push_back(GST_PLUGIN_FEATURE(gst_object_ref(one->data)));
  gst_plugin_feature_list_free(all);
  std::sort(out.begin(), out.end(), [](GstPluginFeature* a, GstPluginFeature* b) {
    return std::strcmp(GST_OBJECT_NAME(a), GST_OBJECT_NAME(b)) < 0;
  });
  return out;
}

// Not the version: it changes with each release, and the documentation has its own.
void add_plugin(Json& json, GstPlugin* plugin) {
  Types types;
  json.begin(gst_plugin_get_name(plugin));
  json.text("description", gst_plugin_get_description(plugin));
  json.begin("elements");
  for (GstPluginFeature* feature : features_of(plugin, GST_TYPE_ELEMENT_FACTORY))
    add_element(json, GST_ELEMENT_FACTORY(feature), types);
  json.end();
  const Text file(g_path_get_basename(gst_plugin_get_filename(plugin)));
  const std::string name(file.get());
  json.text("filename", name.substr(3, name.rfind('.') - 3).c_str());
  json.text("license", gst_plugin_get_license(plugin));
  add_types(json, types);
  json.text("package", gst_plugin_get_package(plugin));
  json.text("source", gst_plugin_get_source(plugin));
  json.begin("tracers");
  for (GstPluginFeature* feature : features_of(plugin, GST_TYPE_TRACER_FACTORY))
    add_tracer(json, GST_TRACER_FACTORY(feature), types);
  json.end();
  json.text("url", gst_plugin_get_origin(plugin));
  json.end();
}

void print_fields(const char* element, const GstStructure* stats, const std::string& under) {
  for (gint i = 0; i < gst_structure_n_fields(stats); ++i) {
    const char* name = gst_structure_nth_field_name(stats, static_cast<guint>(i));
    std::printf("%s %s%s\n", element, under.c_str(), name);
    const GValue* value = gst_structure_get_value(stats, name);
    if (GST_VALUE_HOLDS_STRUCTURE(value))
      print_fields(element, gst_value_get_structure(value), under + name + ".");
  }
}

void print_stats(GstPlugin* plugin) {
  for (GstPluginFeature* feature : features_of(plugin, GST_TYPE_ELEMENT_FACTORY)) {
    GstElement* element = gst_element_factory_create(GST_ELEMENT_FACTORY(feature), nullptr);
    gst_object_ref_sink(element);
    if (g_object_class_find_property(G_OBJECT_GET_CLASS(element), "stats")) {
      GstStructure* stats = nullptr;
      g_object_get(element, "stats", &stats, nullptr);
      // A bin without its parts has none.
      if (stats) print_fields(GST_OBJECT_NAME(feature), stats, "");
      if (stats) gst_structure_free(stats);
    }
    gst_object_unref(element);
  }
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<const char*> plugins;
  const char* output = nullptr;
  bool stats = false;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--stats") == 0)
      stats = true;
    else if (std::strcmp(argv[i], "--output") == 0 && i + 1 < argc)
      output = argv[++i];
    else
      plugins.push_back(argv[i]);
  }
  // What depends on the machine is as it is with a GPU, and no other plugin is looked at.
  g_setenv("GST_DXVA_DEVICE", "software", TRUE);
  g_setenv("GST_REGISTRY_DISABLE", "yes", TRUE);
  g_unsetenv("GST_DXVA_ZEROCOPY");
  g_unsetenv("GST_PLUGIN_FEATURE_RANK");
  gst_init(nullptr, nullptr);
  Json json;
  json.begin(nullptr);
  for (const char* file : plugins) {
    GError* failure = nullptr;
    GstPlugin* plugin = gst_plugin_load_file(file, &failure);
    if (!plugin) {
      std::fprintf(stderr, "dxva-plugins-cache: %s\n", failure->message);
      return 1;
    }
    if (stats)
      print_stats(plugin);
    else
      add_plugin(json, plugin);
  }
  json.end();
  if (stats) return std::fflush(stdout) == 0 ? 0 : 1;
  FILE* to = output ? std::fopen(output, "w") : stdout;
  if (!to || std::fputs(json.printed().c_str(), to) < 0 || std::fflush(to) != 0) {
    std::perror(output ? output : "stdout");
    return 1;
  }
  return 0;
}
