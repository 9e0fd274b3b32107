// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// The ladder: which step a frame took from the decoder to its texture, and why not a higher
// one. Both enums have stable names, because they are read by programs: stats, bus messages,
// --json.

#include <array>
#include <cstddef>
#include <cstdint>

namespace dxva {

enum class Step : uint8_t {
  Egl,           // EGLImage on the exported surface: no copy
  MemoryObject,  // GL_EXT_memory_object_fd: no copy
  GpuCopy,       // copied by the GPU into a linear surface, then imported
  CpuCopy,       // mapped and copied by the CPU
  Software,      // decoded on the CPU, uploaded
};
inline constexpr size_t kStepCount = 5;
[[nodiscard]] const char* step_name(Step step);  // "egl", "memory-object", "gpu-copy", …

enum class Reason : uint8_t {
  None,
  // asked for
  ZeroCopyOff,         // zero-copy=off, or GST_DXVA_ZEROCOPY=0
  ImportCopyForced,    // dxvaglupload import=copy
  DownstreamNoDmabuf,  // downstream takes system memory only
  // what the buffer is
  SystemMemory,           // it never was a surface
  NotADmabuf,             // the fd is no dma-buf (and no sealed memfd under the test switch)
  BadDescriptor,          // fd closed, empty, or no fd at all
  FormatUnsupported,      // a pixel format this path does not know
  PlaneCount,             // not the number of planes or layers the format has
  SizeOutOfRange,         // width or height is 0 or above the limit
  PitchTooSmall,          // a row does not fit its pitch
  PitchOutOfRange,        // pitch above what the API can say
  PitchMismatch,          // tight-linear: luma and chroma pitches differ
  OffsetOutOfRange,       // a plane starts outside its object
  ObjectTooSmall,         // a plane ends outside its object
  NotOpaqueMemory,        // said to be opaque memory, and no kind that a driver hands out
  UuidMismatch,           // opaque memory of another device or driver
  ModifierNotLinear,      // tight-linear, or a consumer that needs linear memory
  ModifierMismatch,       // planes with different modifiers
  ModifierNotImportable,  // EGL does not list it for this format
  AuxPlane,               // compression metadata or other extra planes
  ObjectsDiffer,          // tight-linear: planes in different buffers
  ChromaNotAdjacent,      // tight-linear: chroma offset is not pitch x height
  TiledPlaneOffset,       // a tiled plane at an offset cannot be imported by itself
  // what the driver said
  ExportUnsupported,   // no vaExportSurfaceHandle in this libva or driver
  ExportFailed,        // it was called and failed for this surface
  SyncFailed,          // the device did not say that a picture is done: vaSyncSurface, a fence
  ReadBackFailed,      // it is done, and the CPU could not read it: vaDeriveImage, vaGetImage
  DescriptorInvalid,   // the driver's description contradicts itself
  SurfacePoolEmpty,    // all surfaces downstream may have are out: copied to keep one
  SurfacesNotMade,     // there is no memory for surfaces
  ContextNotMade,      // vaCreateConfig or vaCreateContext failed
  SurfaceInUse,        // shown again while its first buffer is still downstream
  NoDevice,            // no VA device
  ProfileUnsupported,  // the device cannot decode this profile or format
  DecodeErrors,        // the device failed while decoding
  DeviceLost,          // the device answers nothing any more
  // what GL said
  NoEgl,              // GLX or another platform without EGL
  NoImportExtension,  // EGL_EXT_image_dma_buf_import is missing
  SoftwareRenderer,   // llvmpipe or softpipe: import off unless the test switch is on
  EglBadMatch,
  EglBadAlloc,
  EglBadAccess,
  EglBadParameter,
  EglError,         // any other EGL error
  GlError,          // the texture refused the image
  TextureTooLarge,  // above GL_MAX_TEXTURE_SIZE
  ImportDisabled,   // turned off after failures; tried again after a caps change or back-off
  MemoryObjectUnsupported,  // GL_EXT_memory_object_fd missing, or no form passed the self-test
  SelfTestMismatch,         // the driver's answer differs from the CPU's
};
inline constexpr size_t kReasonCount = static_cast<size_t>(Reason::SelfTestMismatch) + 1;
[[nodiscard]] const char* reason_name(Reason reason);  // "chroma-not-adjacent"

// Counts per step and reason; plain data, guarded by whoever owns it.
struct PathCounts {
  std::array<uint64_t, kStepCount> steps{};
  std::array<uint64_t, kReasonCount> reasons{};

  void add(Step step, Reason reason = Reason::None) {
    ++steps[static_cast<size_t>(step)];
    if (reason != Reason::None) ++reasons[static_cast<size_t>(reason)];
  }
};

}  // namespace dxva
