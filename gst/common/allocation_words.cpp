// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/common/allocation_words.hpp"

namespace dxva::gst {
namespace {

constexpr const char* kCopyPool = "copy-pool";

GType type_of(const char* name) {
  const gchar* tags[] = {GST_META_TAG_MEMORY_STR, nullptr};
  const GType known = g_type_from_name(name);  // the other plugin's
  return known != 0 ? known : gst_meta_api_type_register(name, tags);
}

struct Types {
  GType mixed_memory = type_of("GstDxvaMixedMemoryAPI");
  GType waits_for_fences = type_of("GstDxvaWaitsForFencesAPI");
  GType only_consumer = type_of("GstDxvaOnlyConsumerAPI");
};

const Types& types() {
  static const Types all;
  return all;
}

}  // namespace

void register_allocation_words() {
  (void)types();
}

void AllocationWords::add_to(GstQuery* query) const {
  if (mixed_memory) gst_query_add_allocation_meta(query, types().mixed_memory, nullptr);
  if (waits_for_fences) gst_query_add_allocation_meta(query, types().waits_for_fences, nullptr);
  if (!only_consumer) return;
  const StructurePtr about(gst_structure_new_empty("dxva-only-consumer"));
  if (copy_pool)
    gst_structure_set(about.get(), kCopyPool, GST_TYPE_BUFFER_POOL, copy_pool.get(), nullptr);
  gst_query_add_allocation_meta(query, types().only_consumer, about.get());
}

AllocationWords AllocationWords::in(GstQuery* query) {
  const auto said = [query](GType word) {
    return gst_query_find_allocation_meta(query, word, nullptr) != FALSE;
  };
  AllocationWords out{.mixed_memory = said(types().mixed_memory),
                      .waits_for_fences = said(types().waits_for_fences)};
  guint index = 0;
  if (!gst_query_find_allocation_meta(query, types().only_consumer, &index)) return out;
  const GstStructure* about = nullptr;
  gst_query_parse_nth_allocation_meta(query, index, &about);
  if (!about || !gst_structure_has_name(about, "dxva-only-consumer")) return out;
  out.only_consumer = true;
  const GValue* pool = gst_structure_get_value(about, kCopyPool);
  if (pool && G_VALUE_HOLDS(pool, GST_TYPE_BUFFER_POOL))
    out.copy_pool = GstPtr<GstBufferPool>::share(GST_BUFFER_POOL(g_value_get_object(pool)));
  return out;
}

}  // namespace dxva::gst
