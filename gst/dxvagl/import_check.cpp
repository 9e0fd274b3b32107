// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/dxvagl/import_check.hpp"

#include <optional>
#include <string>
#include <variant>

#include "gst/dxvagl/plane_textures.hpp"
#include "gst/dxvagl/producer_fences.hpp"
#include "lib/base/log.hpp"

namespace dxva::gst {
namespace {

ImportCheck impossible(const std::string& why) {
  DXVA_INFO(Gl, "an import goes unverified: %s", why.c_str());
  return ImportCheck::Impossible;
}

// GL-thread only.
ImportCheck compare(GlSession& session, std::span<const GLuint> textures,
                    const gl::TextureSpecs& specs, const MappedPicture& mapped) {
  const auto comparison = session.comparison();
  if (!comparison) return impossible(comparison.error().describe());
  for (size_t p = 0; p < specs.size(); ++p) {
    const auto difference = (*comparison)->compare(textures[p], specs[p], mapped.plane(p));
    if (!difference) return impossible(difference.error().describe());
    if (difference->texels == 0) continue;
    DXVA_WARNING(Gl,
                 "%s shows other pixels than the buffer has: %llu or more of plane %zu, the "
                 "first near %u,%u",
                 session.api().facts.renderer.c_str(),
                 static_cast<unsigned long long>(difference->texels), p, difference->x,
                 difference->y);
    return ImportCheck::Differs;
  }
  return ImportCheck::Same;
}

}  // namespace

ImportCheck check_import(GlSession& session, GstBuffer* input, const InputPicture& picture,
                         const gl::Imported& imported) {
  const auto* planes = std::get_if<gl::PlaneTextures>(&imported.source);
  if (!planes) return impossible("GL does not sample its planes as they are");
  const auto specs = texture_specs(session.context(), session.api(), *picture.info);
  if (!specs || specs->size() != planes->textures->names().size())
    return impossible("GL has no textures for the format");
  ProducerFences::of(input).wait();
  const auto mapped = MappedPicture::map(input, picture, *specs);
  if (!mapped) return impossible(mapped.error().describe());
  std::optional<ImportCheck> out;
  session.thread().run(
      [&] { out = compare(session, planes->textures->names(), *specs, *mapped); });
  return *out;
}

}  // namespace dxva::gst
