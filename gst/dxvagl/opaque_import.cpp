// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/dxvagl/opaque_import.hpp"

#include <optional>
#include <utility>

#include "gst/common/opaque_memory.hpp"
#include "gst/dxvagl/import_check.hpp"
#include "gst/dxvagl/import_memory.hpp"
#include "lib/base/log.hpp"

namespace dxva::gst {
ImportAnswer import_opaque(GlSession& session, GstBuffer* input, const InputPicture& picture,
                           const ImportWish& wish) {
  const Result<gl::OpaqueRequest> request = as_opaque(input, picture);
  if (!request) return {.reason = request.error().reason};
  ImportAnswer out{.identity = request->image.objects[0].identity};
  if (wish.mode == ImportMode::Egl) {
    out.reason = Reason::NotADmabuf;
    return out;
  }
  if (!session.memory_objects()) {
    out.reason = session.memory_object_refusal();
    return out;
  }
  const gl::ImportKey key = gl::ImportKey::of(request->image);
  if (find_known(session, key, out)) return out;
  std::optional<Result<gl::Source>> source;
  session.thread().run([&] { source.emplace(session.memory_objects()->import(*request)); });
  if (!*source) {
    DXVA_INFO(Gl, "not imported as %s: %s", step_name(Step::MemoryObject),
              source->error().describe().c_str());
    out.reason = source->error().reason;
    session.cache()->store_refusal(key, out.reason);
    return out;
  }
  out.imported = std::make_shared<const gl::Imported>(
      gl::Imported{.step = Step::MemoryObject, .source = std::move(**source)});
  if (wish.verify) {
    const auto proved =
        prove_layout(session, input, picture, gl::LayoutKey::of(Step::MemoryObject, key),
                     *out.imported, Uncompared::Trust);
    if (!proved) {
      session.cache()->store_refusal(key, proved.error().reason);
      return {.reason = proved.error().reason, .identity = out.identity};
    }
    out.verified = *proved;
  }
  session.cache()->store(key, out.imported);
  forget_with(session, input, opaque_identity);
  return out;
}

}  // namespace dxva::gst
