// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/dxvagl/upload_choice.hpp"

#include "lib/base/test_switch.hpp"

namespace dxva::gst {
namespace {

gl::UploadWay best_possible(const GlSession& session) {
  const auto& buffers = session.api().unpack_buffers;
  if (!buffers) return gl::UploadWay::Direct;
  return buffers->BufferStorage ? gl::UploadWay::RingInPlace : gl::UploadWay::Ring;
}

}  // namespace

gl::UploadChoice choice_of(const GlSession& session, uint64_t picture_bytes) {
  return {session.api().facts.renderer, best_possible(session), picture_bytes};
}

bool takes_upload_way(const GlSession& session, gl::UploadWay way, uint64_t picture_bytes) {
  if (test_switch().read_in_place) return way == gl::UploadWay::Direct;
  const gl::UploadChoice choice = choice_of(session, picture_bytes);
  return test_switch().upload_ring ? choice.can(way) : choice.takes(way);
}

bool offers_upload_slots(const GlSession& session, uint64_t picture_bytes) {
  const auto way = gl::UploadWay::RingInPlace;
  const gl::UploadChoice choice = choice_of(session, picture_bytes);
  return test_switch().upload_ring ? choice.can(way) : !choice.is_settled_against(way);
}

bool reads_in_place(const GlSession& session, uint64_t picture_bytes) {
  if (test_switch().read_in_place) return true;
  return !test_switch().upload_ring &&
         choice_of(session, picture_bytes).is_settled_against(gl::UploadWay::RingInPlace);
}

}  // namespace dxva::gst
