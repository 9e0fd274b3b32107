// SPDX-License-Identifier: LGPL-2.1-or-later
// The tracer `dxva`: what became of each frame, as a picture. GST_TRACERS makes it for a whole
// process; a program that makes one itself gives it the property `file`, and emits `write`.
#include "gst/tracer/gstdxvatracer.hpp"

#include <cstdlib>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "gst/common/gst_ptr.hpp"
#include "gst/tracer/timeline_file.hpp"

GST_DEBUG_CATEGORY_STATIC(dxvatracer_debug);
#define GST_CAT_DEFAULT dxvatracer_debug

using dxva::gst::TimelineFile;

struct _GstDxvaTracer {
  GstTracer parent;
  gchar* file;
  guint frames;
  TimelineFile* timeline;  // from constructed to finalize
  gchar* error;            // why the file cannot be written
  GPtrArray* ignored;      // of gchar*: what is not understood of the parameters
  gboolean written;
};

G_DEFINE_FINAL_TYPE_WITH_CODE(GstDxvaTracer, gst_dxva_tracer, GST_TYPE_TRACER,
                              GST_DEBUG_CATEGORY_INIT(dxvatracer_debug, "dxvatracer", 0,
                                                      "timeline of frames"))

namespace {

enum Property : guint { kFile = 1, kFrames, kError, kIgnored };

constexpr const char* kDefaultFile = "dxva-timeline.svg";
constexpr guint kDefaultFrames = 1000;
constexpr guint kMostFrames = 100000;

// A program that ends without gst_deinit() gets its picture all the same. Both never destroyed.
struct Living {
  std::mutex lock;
  std::vector<GstDxvaTracer*> tracers;
};
Living& living() {
  static auto* all = new Living;
  return *all;
}

void note(GstDxvaTracer* self, const dxva::Status& done) {
  g_clear_pointer(&self->error, g_free);
  if (!done) self->error = g_strdup(done.error().text.c_str());
}

void write(GstDxvaTracer* self) {
  note(self, self->timeline->write());
  self->written = TRUE;
  if (!self->error) GST_INFO_OBJECT(self, "timeline in %s", self->timeline->path().c_str());
}

void write_what_is_left() {
  const std::lock_guard guard(living().lock);
  for (GstDxvaTracer* self : living().tracers) {
    if (self->written) continue;
    write(self);
    if (self->error) g_warning("dxva tracer: %s", self->error);
  }
}

// Visible to whoever set it: nobody else reads these settings.
void ignore(GstDxvaTracer* self, const std::string& what) {
  g_ptr_array_add(self->ignored, g_strdup(what.c_str()));
  g_warning("dxva tracer: not understood: %s; file is a path, frames a number from 1 to %u",
            what.c_str(), kMostFrames);
}

bool take_parameter(GstDxvaTracer* self, std::string_view name, const GValue* value) {
  if (name == "file" && G_VALUE_HOLDS_STRING(value) && *g_value_get_string(value)) {
    g_free(self->file);
    self->file = g_value_dup_string(value);
    return true;
  }
  if (name != "frames" || !G_VALUE_HOLDS_INT(value)) return false;
  const gint frames = g_value_get_int(value);
  if (frames < 1 || static_cast<guint>(frames) > kMostFrames) return false;
  self->frames = static_cast<guint>(frames);
  return true;
}

// file=…,frames=… as GST_TRACERS="dxva(…)" has them.
void take_parameters(GstDxvaTracer* self, const gchar* parameters) {
  const dxva::gst::GlibString text(g_strdup_printf("dxva,%s", parameters));
  const dxva::gst::StructurePtr given(gst_structure_from_string(text.get(), nullptr));
  if (!given) {
    ignore(self, parameters);
    return;
  }
  for (gint i = 0; i < gst_structure_n_fields(given.get()); ++i) {
    const gchar* name = gst_structure_nth_field_name(given.get(), static_cast<guint>(i));
    const GValue* value = gst_structure_get_value(given.get(), name);
    if (take_parameter(self, name, value)) continue;
    const dxva::gst::GlibString told(gst_value_serialize(value));
    ignore(self, std::string(name) + "=" + (told ? told.get() : "?"));
  }
}

void constructed(GObject* object) {
  GstDxvaTracer* self = GST_DXVA_TRACER(object);
  G_OBJECT_CLASS(gst_dxva_tracer_parent_class)->constructed(object);
  gchar* parameters = nullptr;
  g_object_get(object, "params", &parameters, nullptr);
  const dxva::gst::GlibString owned(parameters);
  if (parameters && *parameters) take_parameters(self, parameters);
  const bool made_by_variable = !self->file || parameters;
  if (!self->file) self->file = g_strdup(kDefaultFile);
  self->timeline = new TimelineFile(self->file, self->frames);
  note(self, self->timeline->open());
  self->written = self->error != nullptr;  // said once, and not again at the end

  static std::once_flag once;
  std::call_once(once, [] { std::atexit(write_what_is_left); });
  {
    const std::lock_guard guard(living().lock);
    living().tracers.push_back(self);
  }
  if (!made_by_variable) return;
  // GStreamer gives the tracer up at once: what keeps it to gst_deinit() is a hook, this one
  // because it is called least.
  gst_tracing_register_hook(GST_TRACER(self), "element-new", G_CALLBACK(+[] {}));
  if (self->error) g_warning("dxva tracer: %s", self->error);
}

void set_property(GObject* object, guint id, const GValue* value, GParamSpec* spec) {
  GstDxvaTracer* self = GST_DXVA_TRACER(object);
  if (id == kFile)
    self->file = g_value_dup_string(value);
  else if (id == kFrames)
    self->frames = g_value_get_uint(value);
  else
    G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
}

// Transfer full, ends with null.
gchar** ignored_settings(GstDxvaTracer* self) {
  auto** out = g_new0(gchar*, self->ignored->len + 1);
  for (guint i = 0; i < self->ignored->len; ++i)
    out[i] = g_strdup(static_cast<gchar*>(g_ptr_array_index(self->ignored, i)));
  return out;
}

void get_property(GObject* object, guint id, GValue* value, GParamSpec* spec) {
  GstDxvaTracer* self = GST_DXVA_TRACER(object);
  if (id == kFile)
    g_value_set_string(value, self->file);
  else if (id == kFrames)
    g_value_set_uint(value, self->frames);
  else if (id == kError)
    g_value_set_string(value, self->error);
  else if (id == kIgnored)
    g_value_take_boxed(value, ignored_settings(self));
  else
    G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
}

void finalize(GObject* object) {
  GstDxvaTracer* self = GST_DXVA_TRACER(object);
  {
    const std::lock_guard guard(living().lock);
    std::erase(living().tracers, self);
  }
  if (!self->written) {
    write(self);
    if (self->error) g_warning("dxva tracer: %s", self->error);
  }
  delete self->timeline;
  g_free(self->file);
  g_free(self->error);
  g_ptr_array_unref(self->ignored);
  G_OBJECT_CLASS(gst_dxva_tracer_parent_class)->finalize(object);
}

}  // namespace

static void gst_dxva_tracer_init(GstDxvaTracer* self) {
  self->ignored = g_ptr_array_new_with_free_func(g_free);
}

static void gst_dxva_tracer_class_init(GstDxvaTracerClass* klass) {
  auto* object = G_OBJECT_CLASS(klass);
  object->constructed = constructed;
  object->set_property = set_property;
  object->get_property = get_property;
  object->finalize = finalize;
  constexpr auto kOnce = static_cast<GParamFlags>(G_PARAM_READWRITE | G_PARAM_CONSTRUCT_ONLY |
                                                  G_PARAM_STATIC_STRINGS);
  g_object_class_install_property(
      object, kFile,
      g_param_spec_string("file", "File", "Where the picture goes, an SVG", nullptr, kOnce));
  g_object_class_install_property(
      object, kFrames,
      g_param_spec_uint("frames", "Frames", "How many frames of each stream are drawn", 1,
                        kMostFrames, kDefaultFrames, kOnce));
  g_object_class_install_property(
      object, kError,
      g_param_spec_string("error", "Error", "Why the file cannot be written", nullptr,
                          static_cast<GParamFlags>(G_PARAM_READABLE | G_PARAM_STATIC_STRINGS)));
  g_object_class_install_property(
      object, kIgnored,
      g_param_spec_boxed("ignored", "Ignored", "Settings that are not understood", G_TYPE_STRV,
                         static_cast<GParamFlags>(G_PARAM_READABLE | G_PARAM_STATIC_STRINGS)));
  // Writes what there is; the property `error` says how that went.
  g_signal_new_class_handler("write", G_TYPE_FROM_CLASS(klass),
                             static_cast<GSignalFlags>(G_SIGNAL_RUN_LAST | G_SIGNAL_ACTION),
                             G_CALLBACK(+[](GstDxvaTracer* self) { write(self); }), nullptr,
                             nullptr, nullptr, G_TYPE_NONE, 0);
}

gboolean gst_dxva_tracer_register(GstPlugin* plugin) {
  return gst_tracer_register(plugin, "dxva", GST_TYPE_DXVA_TRACER);
}
