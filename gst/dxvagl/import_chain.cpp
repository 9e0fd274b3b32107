// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/dxvagl/import_chain.hpp"

#include <gst/allocators/gstdmabuf.h>
#include <sys/stat.h>

#include <array>
#include <optional>
#include <utility>

#include "gst/dxvagl/colour.hpp"
#include "gst/dxvagl/import_check.hpp"
#include "gst/dxvagl/import_memory.hpp"
#include "gst/dxvagl/opaque_import.hpp"
#include "lib/base/log.hpp"

namespace dxva::gst {
namespace {

// In the order in which they are tried.
constexpr std::array kSteps = {Step::Egl, Step::MemoryObject};

bool allows(ImportMode mode, Step step) {
  switch (mode) {
    case ImportMode::Auto:
      return true;
    case ImportMode::Egl:
      return step == Step::Egl;
    case ImportMode::MemoryObject:
      return step == Step::MemoryObject;
    case ImportMode::Copy:
      break;
  }
  return false;
}

// Why this context has no such step; None: it has.
Reason missing(const GlSession& session, Step step) {
  if (step == Step::Egl) return session.importer() ? Reason::None : session.import_refusal();
  if (!session.memory_objects()) return session.memory_object_refusal();
  return session.memory_objects()->takes_dmabufs() ? Reason::None
                                                   : Reason::MemoryObjectUnsupported;
}

// The highest allowed step's reason when the context has none of those that are.
Reason general_refusal(const GlSession& session, ImportMode mode) {
  if (mode == ImportMode::Copy) return Reason::ImportCopyForced;
  Reason first = Reason::None;
  for (const Step step : kSteps) {
    if (!allows(mode, step)) continue;
    const Reason reason = missing(session, step);
    if (reason == Reason::None) return Reason::None;
    if (first == Reason::None) first = reason;
  }
  return first;
}

// What EGL said about planes of their own; as a whole the picture may still be known.
bool may_go_whole(Reason reason) {
  return reason == Reason::ModifierNotImportable || reason == Reason::TiledPlaneOffset;
}

// GL-thread only.
Result<gl::Source> import_by_egl(const GlSession& session, const gl::ImportRequest& request,
                                 const InputPicture& picture, bool draws) {
  auto textures = session.importer()->import(request);
  if (textures) return gl::Source(gl::PlaneTextures{.textures = std::move(*textures)});
  const gl::WholeImageImporter& whole = *session.whole_images();
  if (!draws || !may_go_whole(textures.error().reason) ||
      whole.sampling(request.image.fourcc, picture.modifier) ==
          gl::ImportFormats::Sampling::None)
    return textures.error();
  auto image = whole.import(request, colorimetry_of(*picture.info), siting_of(*picture.info));
  if (!image) return image.error();
  return gl::Source(std::move(*image));
}

// One frame on its way down the steps.
struct Attempt {
  GlSession& session;
  GstBuffer* input;
  const InputPicture& picture;
  const gl::ImportRequest& request;
  gl::ImportKey key;
  const ImportWish& wish;
  bool verified = false;

  [[nodiscard]] Result<std::shared_ptr<const gl::Imported>> by(Step step);
  [[nodiscard]] Result<std::shared_ptr<const gl::Imported>> by_any();
};

Result<std::shared_ptr<const gl::Imported>> Attempt::by(Step step) {
  // What a driver makes of a dma-buf as a memory object is nobody's promise: compared always.
  const bool must = step == Step::MemoryObject;
  const auto layout = gl::LayoutKey::of(step, key);
  if ((wish.verify || must) && session.self_tests().verdict(layout, session.cache()->frame()) ==
                                   gl::SelfTests::Verdict::Wrong)
    return refusal(Reason::SelfTestMismatch, "another buffer of this layout was wrong");

  std::optional<Result<gl::Source>> source;
  session.thread().run([&] {
    source.emplace(must ? session.memory_objects()->import(request)
                        : import_by_egl(session, request, picture, wish.draws));
    // Once for each buffer: contexts that share the textures find them made, without a fence.
    session.api().Flush();
  });
  if (!*source) return source->error();
  auto imported = std::make_shared<const gl::Imported>(
      gl::Imported{.step = step, .source = std::move(**source)});
  if (wish.verify || must) {
    const auto proved = prove_layout(session, input, picture, layout, *imported,
                                     must ? Uncompared::Refuse : Uncompared::Trust);
    if (!proved) return proved.error();
    verified = *proved;
  }
  return std::shared_ptr<const gl::Imported>(std::move(imported));
}

Result<std::shared_ptr<const gl::Imported>> Attempt::by_any() {
  std::optional<Error> first;
  for (const Step step : kSteps) {
    if (!allows(wish.mode, step) || missing(session, step) != Reason::None) continue;
    auto imported = by(step);
    if (imported) return imported;
    DXVA_INFO(Gl, "not imported as %s: %s", step_name(step),
              imported.error().describe().c_str());
    if (!first) first = imported.error();
  }
  return std::move(*first);  // general_refusal() said that there is a step
}

BufferIdentity identity_of(int fd) {
  struct stat file {};
  if (fd < 0 || ::fstat(fd, &file) != 0) return {};
  return {.device = file.st_dev, .inode = file.st_ino};
}

std::optional<BufferIdentity> dmabuf_identity(GstMemory* memory) {
  if (!gst_is_dmabuf_memory(memory)) return std::nullopt;
  return identity_of(gst_dmabuf_memory_get_fd(memory));
}

}  // namespace

bool is_general(Reason reason) {
  using enum Reason;
  return reason == ImportCopyForced || reason == MemoryObjectUnsupported || reason == NoEgl ||
         reason == NoImportExtension || reason == SoftwareRenderer;
}

ImportAnswer import_frame(GlSession& session, GstBuffer* input, const InputPicture& picture,
                          const ImportWish& wish) {
  if (wish.mode == ImportMode::Copy) return {.reason = Reason::ImportCopyForced};
  if (is_opaque(input)) return import_opaque(session, input, picture, wish);
  Result<gl::ImportRequest> request = as_descriptors(input, picture);
  if (!request) return {.reason = request.error().reason};
  if (const Reason reason = general_refusal(session, wish.mode); reason != Reason::None)
    return {.reason = reason};

  // Each frame, unless the memory's maker answers for it, because a descriptor's number says
  // nothing: the buffer behind it is what counts. One that is known has been measured, and is
  // neither another kind of file nor smaller now.
  for (uint32_t i = 0; i < request->image.object_count; ++i) {
    BufferIdentity& identity = request->image.objects[i].identity;
    if (identity == BufferIdentity{}) identity = identity_of(request->fds[i]);
  }
  ImportAnswer out{.identity = request->image.objects[0].identity};
  if (find_known(session, gl::ImportKey::of(request->image), out)) return out;
  if (auto measured = gl::measure_objects(request->fds, request->image); !measured) {
    out.reason = measured.error().reason;
    return out;
  }
  out.identity = request->image.objects[0].identity;
  const gl::ImportKey key = gl::ImportKey::of(request->image);
  Attempt attempt{.session = session,
                  .input = input,
                  .picture = picture,
                  .request = *request,
                  .key = key,
                  .wish = wish};
  auto asked = attempt.by_any();
  if (!asked) {
    out.reason = asked.error().reason;
    session.cache()->store_refusal(key, out.reason);
    return out;
  }
  out.imported = std::move(*asked);
  out.verified = attempt.verified;
  session.cache()->store(key, out.imported);
  forget_with(session, input, dmabuf_identity);
  return out;
}

}  // namespace dxva::gst
