// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/common/gl_device_context.hpp"

namespace dxva::gst {

GstPtr<GstContext> make_gl_device_context(const GlDeviceFacts& facts) {
  // Not persistent: the next start may find another GPU.
  auto context = GstPtr<GstContext>::adopt(gst_context_new(kGlDeviceContext, FALSE));
  gst_structure_set(gst_context_writable_structure(context.get()), "node", G_TYPE_STRING,
                    facts.node.c_str(), "renderer", G_TYPE_STRING, facts.renderer.c_str(),
                    nullptr);
  if (facts.uuid)
    gst_structure_set(gst_context_writable_structure(context.get()), "device-uuid",
                      G_TYPE_STRING, uuid_text(*facts.uuid).c_str(), nullptr);
  return context;
}

std::optional<GlDeviceFacts> gl_device_of(const GstContext* context) {
  if (!context || !gst_context_has_context_type(context, kGlDeviceContext)) return std::nullopt;
  const GstStructure* facts = gst_context_get_structure(context);
  const char* node = gst_structure_get_string(facts, "node");
  const char* renderer = gst_structure_get_string(facts, "renderer");
  const char* uuid = gst_structure_get_string(facts, "device-uuid");
  return GlDeviceFacts{.node = node ? node : "",
                       .renderer = renderer ? renderer : "",
                       .uuid = uuid ? parse_uuid(uuid) : std::nullopt};
}

}  // namespace dxva::gst
