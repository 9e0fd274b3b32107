// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// Stand-ins for NVIDIA's libcuda.so.1 and libnvcuvid.so.1, in a folder that only tests put in
// front of the loader. A device whose memory is lavapipe's (so that llvmpipe imports what is
// exported), whose queues run late, and whose decoder is libavcodec: VP8, VP9 and JPEG are
// really decoded, other codecs give pictures of one value: of H.264 and H.265 the picture order
// count, of AV1 1 where the picture has the size that its decoder was made for, and 2 where it
// has not.
//
// What it gets wrong on purpose: a copy is made only when somebody has asked for its event
// twice, and a picture that is unmapped is overwritten at once. Who does not wait shows wrong
// pictures. As on a GPU, JPEG pictures are made on the default stream, for which streams made
// with CU_STREAM_NON_BLOCKING do not wait, and a decoder of an odd height has no room for the
// last row of their chroma.
//
// DXVA_FAKE_CUDA, read at every call, holds words: no-device, no-export (the device says so),
// export-fails, oom (no device memory), event-fails-at=N, decode-fails-at=N, map-fails-at=N
// (the N-th such call and all after it), create-fails; and lost-at=N (a copy),
// decode-loses-at=N, map-loses-at=N: that call fails, and with it everything in the context.

#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>

namespace fakecuda {

struct Work {
  std::function<void()> run;
  bool is_read = false;  // into the host's memory
};

}  // namespace fakecuda

struct CUstream_st {
  std::mutex lock;
  std::deque<fakecuda::Work> work;
  uint64_t done = 0;  // so many have been taken off `work`
  unsigned losses_before = 0;
  bool waits_for_default = true;
};

// Exported, as the functions of the libraries are; the project hides everything else.
namespace [[gnu::visibility("default")]] fakecuda {

// Whether DXVA_FAKE_CUDA has the word.
bool fault(const char* word);
// Counts a call; true from the N-th on, where DXVA_FAKE_CUDA has "word=N".
bool fails_from(const char* word, unsigned& calls);
// From now on every call in the context fails with CUDA_ERROR_LAUNCH_FAILED.
void lose();
bool is_lost();

uint8_t* host_address(uint64_t device_address);
// Null: the default stream, whose work is done when another stream's is that waits for it.
void enqueue(CUstream_st* stream, Work work);

}  // namespace gnu::visibility("default")]]fakecuda
