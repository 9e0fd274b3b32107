// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lib/base/result.hpp"
#include "lib/base/unique_fd.hpp"
#include "lib/gl/memory_object_importer.hpp"
#include "lib/gl/memory_object_pass.hpp"

namespace dxva::gl {

// Memory that the CPU writes and GL can import, from whoever can make it (lib/vulkan).
struct TestMemory {
  std::shared_ptr<void> owner;  // keeps the rest
  uint8_t* data = nullptr;
  uint64_t size_bytes = 0;  // to be named in the import
  UniqueFd fd;
};
using TestMemorySource = std::function<Result<TestMemory>(uint64_t size_bytes)>;

// Whether this driver shows what is in the memory: a known pattern is imported, drawn and
// compared byte by byte, then rewritten, drawn and compared again. Nothing less tells: drivers
// ignore offsets, sample black, choose a pitch or a tiling of their own, or keep a copy of the
// first content, and none of that is a GL error. Sizes are odd, padded, and above 2 MiB (where
// NVIDIA was seen to stop). One verdict for each format, form and kind of pitch, kept for the
// context's life. GL-thread only.
class MemoryObjectSelfTest {
 public:
  MemoryObjectSelfTest(std::shared_ptr<GlThread> thread, std::shared_ptr<const GlApi> gl,
                       const MemoryObjectImporter& importer, TestMemorySource source)
      : thread_(std::move(thread)),
        gl_(std::move(gl)),
        importer_(importer),
        source_(std::move(source)) {}

  // Refusals: SelfTestMismatch; MemoryObjectUnsupported where there is no memory to test with;
  // and what the import said. The first call of each kind takes some milliseconds.
  [[nodiscard]] Status verdict(uint32_t fourcc, MemoryObjectForm form, uint64_t pitch_bytes,
                               MemoryObjectPass& pass);

  // One way for a picture to lie in memory.
  struct Geometry {
    const char* name = "";
    uint32_t width = 0;  // pixels
    uint32_t height = 0;
    uint32_t pitch_bytes = 0;
    uint32_t rows_before_chroma = 0;
    uint32_t extra_bytes = 0;  // between these rows and chroma
  };
  // How a texture's rows lie is the driver's choice: whole lines of 64 or 256 bytes with some,
  // without any with others. So a pitch is tested among its like. Buffers have no rows.
  enum class Pitches : uint8_t { OfAny, Of64, Of256 };
  [[nodiscard]] static Pitches pitches_like(MemoryObjectForm form, uint64_t pitch_bytes);
  // Those that must be shown rightly.
  [[nodiscard]] static std::vector<Geometry> geometries(uint32_t fourcc, MemoryObjectForm form,
                                                        Pitches pitches);
  // One of them; what verdict() does for each.
  [[nodiscard]] Status try_geometry(const Geometry& geometry, uint32_t fourcc,
                                    MemoryObjectForm form, MemoryObjectPass& pass);

 private:
  [[nodiscard]] Status run(uint32_t fourcc, MemoryObjectForm form, Pitches pitches,
                           MemoryObjectPass& pass);

  std::shared_ptr<GlThread> thread_;
  std::shared_ptr<const GlApi> gl_;
  const MemoryObjectImporter& importer_;
  TestMemorySource source_;
  // By form, format (NV12, P010) and Pitches.
  std::array<std::array<std::array<std::optional<Status>, 3>, 2>, kMemoryObjectForms> verdicts_;
};

// The bytes of a picture's plane that GL shows and memory holds differ here; counted to the
// end. GL-thread only.
struct BytesCompared {
  uint64_t compared = 0;
  uint64_t wrong = 0;
  std::string first;  // a sentence about the first wrong byte
};
[[nodiscard]] Result<BytesCompared> compare_with_memory(
    const std::shared_ptr<GlThread>& thread, const std::shared_ptr<const GlApi>& gl,
    const MemoryObjectApi& api, MemoryObjectPass& pass, const MemoryObjectPicture& picture,
    uint32_t plane, const uint8_t* first_row, uint64_t pitch_bytes);

}  // namespace dxva::gl
