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

// What the shader makes of the memory, in textures of our own. GL-thread only.
ImportCheck compare_drawn(GlSession& session, const gl::MemoryObjectPicture& picture,
                          const gl::TextureSpecs& specs, const MappedPicture& mapped) {
  std::unique_ptr<gl::TextureSet> drawn = session.pool().acquire(specs);
  if (!drawn) return impossible("GL has no memory");
  ImportCheck out = ImportCheck::Impossible;
  Status done = Done{};
  for (uint32_t p = 0; done && p < specs.size(); ++p)
    done = session.memory_objects()->pass().draw_plane(picture, p, drawn->names()[p]);
  if (done)
    out = compare(session, drawn->names(), specs, mapped);
  else
    out = impossible(done.error().describe());
  session.pool().give_back(specs, std::move(drawn));
  return out;
}

bool is_one_value(const gl::PlanePixels& pixels, const gl::TextureSpec& spec) {
  for (uint32_t row = 0; row < spec.height; ++row)
    for (uint64_t i = 0; i < spec.row_bytes(); ++i)
      if (pixels.data[row * pixels.pitch_bytes + i] != pixels.data[i % spec.texel_bytes])
        return false;
  return true;
}

}  // namespace

ImportCheck check_import(GlSession& session, GstBuffer* input, const InputPicture& picture,
                         const gl::Imported& imported) {
  const auto* planes = std::get_if<gl::PlaneTextures>(&imported.source);
  const auto* memory = std::get_if<gl::MemoryObjectSource>(&imported.source);
  if (!planes && !memory) return impossible("GL does not sample its planes as they are");
  const auto specs = texture_specs(session.context(), session.api(), *picture.info);
  if (!specs || specs->size() != picture.plane_count)
    return impossible("GL has no textures for the format");
  ProducerFences::of(input).wait();
  const auto mapped = MappedPicture::map(input, picture, *specs);
  if (!mapped) return impossible(mapped.error().describe());
  // Memory that a driver did not find is black without an error, and so may a first picture be.
  if (memory && is_one_value(mapped->plane(0), specs->front()))
    return impossible("a picture of one value shows nothing");
  std::optional<ImportCheck> out;
  session.thread().run([&] {
    out = planes ? compare(session, planes->textures->names(), *specs, *mapped)
                 : compare_drawn(session, **memory, *specs, *mapped);
  });
  return *out;
}

Result<bool> prove_layout(GlSession& session, GstBuffer* input, const InputPicture& picture,
                          const gl::LayoutKey& layout, const gl::Imported& imported,
                          Uncompared uncompared) {
  const uint64_t now = session.cache()->frame();
  switch (session.self_tests().verdict(layout, now)) {
    using enum gl::SelfTests::Verdict;
    case Right:
      return false;
    case Wrong:
      return refusal(Reason::SelfTestMismatch, "another buffer of this layout was wrong");
    case Open:
      break;
  }
  switch (check_import(session, input, picture, imported)) {
    case ImportCheck::Same:
      session.self_tests().passed(layout);
      return true;
    case ImportCheck::Differs:
      session.self_tests().failed(layout, now);
      return refusal(Reason::SelfTestMismatch, "not the pixels that the CPU reads");
    case ImportCheck::Impossible:
      break;
  }
  if (uncompared == Uncompared::Trust) return false;
  return refusal(Reason::MemoryObjectUnsupported, "it could not be compared");
}

}  // namespace dxva::gst
