// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/common/context_query.hpp"

#include <string_view>

namespace dxva::gst {
namespace {

GstPtr<GstContext> ask_along(GList* pads, GstQuery* query) {
  for (GList* item = pads; item; item = item->next) {
    if (!gst_pad_peer_query(GST_PAD(item->data), query)) continue;
    GstContext* found = nullptr;
    gst_query_parse_context(query, &found);
    if (found) return GstPtr<GstContext>::share(found);
  }
  return nullptr;
}

}  // namespace

GstPtr<GstContext> ask_neighbours(GstElement* element, const char* type) {
  auto query = GstPtr<GstQuery>::adopt(gst_query_new_context(type));
  for (const GstPadDirection direction : {GST_PAD_SRC, GST_PAD_SINK}) {
    GST_OBJECT_LOCK(element);
    GList* pads = g_list_copy_deep(
        direction == GST_PAD_SRC ? element->srcpads : element->sinkpads,
        [](gconstpointer pad, gpointer) -> gpointer {
          return gst_object_ref(const_cast<gpointer>(pad));
        },
        nullptr);
    GST_OBJECT_UNLOCK(element);
    auto found = ask_along(pads, query.get());
    g_list_free_full(pads, gst_object_unref);
    if (found) return found;
  }
  return nullptr;
}

void ask_for_context(GstElement* element, const char* type) {
  gst_element_post_message(element, gst_message_new_need_context(GST_OBJECT(element), type));
}

void announce_context(GstElement* element, GstPtr<GstContext> context) {
  gst_element_post_message(
      element, gst_message_new_have_context(GST_OBJECT(element), context.release()));
}

bool asks_for_context(GstQuery* query, const char* type) {
  const char* asked = nullptr;
  return GST_QUERY_TYPE(query) == GST_QUERY_CONTEXT &&
         gst_query_parse_context_type(query, &asked) && asked &&
         std::string_view(asked) == type;
}

}  // namespace dxva::gst
