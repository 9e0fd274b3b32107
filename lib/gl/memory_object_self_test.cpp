// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/gl/memory_object_self_test.hpp"

#include <cstring>
#include <utility>

#include "lib/base/fourcc.hpp"
#include "lib/base/log.hpp"
#include "lib/gl/texture_set.hpp"
#include "lib/gl/texture_uploader.hpp"

namespace dxva::gl {
namespace {

// Every byte of memory gets a value of its place, so that a byte from anywhere else differs
// nearly always, and so that nothing is all one value. No two rounds agree anywhere.
void fill(uint8_t* data, uint64_t size_bytes, uint32_t round) {
  uint32_t state = 0x9e3779b9u * (round + 1);
  for (uint64_t i = 0; i < size_bytes; ++i) {
    state = state * 1664525u + 1013904223u;
    data[i] = static_cast<uint8_t>((state >> 24 & 0x7f) | (round % 2 ? 0x80u : 0u));
  }
}

TextureSpec bytes_target(const MemoryObjectPicture& picture, uint32_t plane) {
  return {.width = MemoryObjectPass::bytes_width(picture),
          .height = video::plane_rows(plane, picture.height()),
          .internal_format = GL_RGBA8,
          .format = GL_RGBA,
          .type = GL_UNSIGNED_BYTE,
          .texel_bytes = 4};
}

void compare_row(const uint8_t* drawn, const uint8_t* memory, uint32_t samples, uint32_t unit,
                 uint32_t plane, uint32_t row, BytesCompared& out) {
  for (uint32_t i = 0; i < samples; ++i) {
    for (uint32_t byte = 0; byte < unit; ++byte) {
      const uint8_t got = drawn[i * 2 + byte];
      const uint8_t want = memory[i * unit + byte];
      ++out.compared;
      if (got == want) continue;
      if (out.wrong++ == 0)
        out.first = std::string(plane == 0 ? "luma" : "chroma") + " row " +
                    std::to_string(row) + " byte " + std::to_string(i * unit + byte) + " is " +
                    std::to_string(got) + ", not " + std::to_string(want);
    }
  }
}

}  // namespace

Result<BytesCompared> compare_with_memory(const std::shared_ptr<GlThread>& thread,
                                          const std::shared_ptr<const GlApi>& gl,
                                          const MemoryObjectApi& api, MemoryObjectPass& pass,
                                          const MemoryObjectPicture& picture, uint32_t plane,
                                          const uint8_t* first_row, uint64_t pitch_bytes) {
  const TextureSpec spec = bytes_target(picture, plane);
  const auto target = TextureSet::create(thread, gl, 1);
  if (!allocate_texture(*gl, target->names()[0], spec))
    return Error{.code = ErrorCode::NoMemory, .call = "glTexImage2D"};
  std::vector<uint8_t> drawn(spec.row_bytes() * spec.height);
  const auto done = pass.draw_bytes(picture, plane, target->names()[0], [&] {
    if (gl->BindBuffer) gl->BindBuffer(GL_PIXEL_PACK_BUFFER, 0);
    gl->PixelStorei(GL_PACK_ALIGNMENT, 4);
    gl->PixelStorei(GL_PACK_ROW_LENGTH, 0);
    api.ReadPixels(0, 0, static_cast<GLsizei>(spec.width), static_cast<GLsizei>(spec.height),
                   GL_RGBA, GL_UNSIGNED_BYTE, drawn.data());
  });
  if (!done) return done.error();
  const uint32_t unit = picture.fourcc() == format::kP010 ? 2 : 1;
  const uint32_t samples = plane == 0 ? picture.width() : (picture.width() + 1) / 2 * 2;
  BytesCompared out;
  for (uint32_t row = 0; row < spec.height; ++row)
    compare_row(drawn.data() + row * spec.row_bytes(), first_row + row * pitch_bytes, samples,
                unit, plane, row, out);
  return out;
}

MemoryObjectSelfTest::Pitches MemoryObjectSelfTest::pitches_like(MemoryObjectForm form,
                                                                 uint64_t pitch_bytes) {
  if (form == MemoryObjectForm::Buffer || pitch_bytes % 64 != 0) return Pitches::OfAny;
  return pitch_bytes % 256 != 0 ? Pitches::Of64 : Pitches::Of256;
}

std::vector<MemoryObjectSelfTest::Geometry> MemoryObjectSelfTest::geometries(
    uint32_t fourcc, MemoryObjectForm form, Pitches pitches) {
  // Wide enough for both depths; the last has more than 2 MiB of luma.
  const auto three = [](uint32_t small, uint32_t middle, uint32_t large) {
    return std::vector<Geometry>{{"odd size", 61, 47, small, 47, 0},
                                 {"padded pitch", 300, 38, middle, 38, 0},
                                 {"above 2 MiB", 2000, 600, large, 600, 0}};
  };
  std::vector<Geometry> out = pitches == Pitches::Of256  ? three(256, 768, 4096)
                              : pitches == Pitches::Of64 ? three(192, 704, 4160)
                                                         : three(134, 606, 4006);
  if (form != MemoryObjectForm::Buffer) return out;
  out.push_back({"chroma after a gap", 64, 48, 256, 50, 74});
  if (fourcc != format::kP010) out.push_back({"odd pitch", 61, 47, 67, 47, 1});
  return out;
}

Status MemoryObjectSelfTest::try_geometry(const Geometry& geometry, uint32_t fourcc,
                                          MemoryObjectForm form, MemoryObjectPass& pass) {
  const uint64_t pitch = geometry.pitch_bytes;
  OpaqueRequest request{.image = {.fourcc = fourcc,
                                  .width = geometry.width,
                                  .height = geometry.height,
                                  .object_count = 1,
                                  .plane_count = 2},
                        .uuids = importer_.api().uuids};
  request.image.planes[0].pitch_bytes = pitch;
  request.image.planes[1] = {
      .offset = pitch * geometry.rows_before_chroma + geometry.extra_bytes,
      .pitch_bytes = pitch};
  auto memory = source_(bytes_needed(request.image, 0, form));
  if (!memory) {
    Error error = memory.error();
    error.reason = Reason::MemoryObjectUnsupported;
    return error;
  }
  request.image.objects[0].size_bytes = memory->size_bytes;
  request.fds[0] = memory->fd.get();

  fill(memory->data, memory->size_bytes, 0);
  const auto picture = importer_.import(request, form);
  if (!picture) return picture.error();
  for (uint32_t round = 0; round < 2; ++round) {
    if (round > 0) {
      // The draws before are over, or the driver would be right to show a mixture.
      gl_->Finish();
      fill(memory->data, memory->size_bytes, round);
    }
    for (uint32_t plane = 0; plane < 2; ++plane) {
      const auto compared =
          compare_with_memory(thread_, gl_, importer_.api(), pass, **picture, plane,
                              memory->data + request.image.planes[plane].offset, pitch);
      if (!compared) return compared.error();
      if (compared->wrong > 0)
        return refusal(Reason::SelfTestMismatch,
                       std::string(geometry.name) + (round > 0 ? ", rewritten: " : ": ") +
                           std::to_string(compared->wrong) + " of " +
                           std::to_string(compared->compared) + " bytes; " + compared->first);
    }
  }
  return Done{};
}

Status MemoryObjectSelfTest::run(uint32_t fourcc, MemoryObjectForm form, Pitches pitches,
                                 MemoryObjectPass& pass) {
  for (const Geometry& geometry : geometries(fourcc, form, pitches))
    if (auto passed = try_geometry(geometry, fourcc, form, pass); !passed) return passed;
  return Done{};
}

Status MemoryObjectSelfTest::verdict(uint32_t fourcc, MemoryObjectForm form,
                                     uint64_t pitch_bytes, MemoryObjectPass& pass) {
  const Pitches pitches = pitches_like(form, pitch_bytes);
  std::optional<Status>& known =
      verdicts_[static_cast<size_t>(form)][fourcc == format::kP010 ? 1 : 0]
               [static_cast<size_t>(pitches)];
  if (!known) {
    known = run(fourcc, form, pitches, pass);
    DXVA_INFO(Gl, "memory objects as %s, %s, pitch %llu and its like, on %s: %s",
              form_name(form), fourcc_text(fourcc).c_str(),
              static_cast<unsigned long long>(pitch_bytes), gl_->facts.renderer.c_str(),
              *known ? "pass the self-test" : known->error().describe().c_str());
  }
  return *known;
}

}  // namespace dxva::gl
