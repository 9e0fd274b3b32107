// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/base/path.hpp"

namespace dxva {

const char* step_name(Step step) {
  switch (step) {
    using enum Step;
    case Egl:
      return "egl";
    case MemoryObject:
      return "memory-object";
    case GpuCopy:
      return "gpu-copy";
    case CpuCopy:
      return "cpu-copy";
    case Software:
      return "software";
  }
  return "unknown";
}

const char* reason_name(Reason reason) {
  switch (reason) {
    using enum Reason;
    case None:
      return "none";
    case ZeroCopyOff:
      return "zero-copy-off";
    case ImportCopyForced:
      return "import-copy-forced";
    case DownstreamNoDmabuf:
      return "downstream-no-dmabuf";
    case SystemMemory:
      return "system-memory";
    case NotADmabuf:
      return "not-a-dmabuf";
    case BadDescriptor:
      return "bad-descriptor";
    case FormatUnsupported:
      return "format-unsupported";
    case PlaneCount:
      return "plane-count";
    case SizeOutOfRange:
      return "size-out-of-range";
    case PitchTooSmall:
      return "pitch-too-small";
    case PitchOutOfRange:
      return "pitch-out-of-range";
    case PitchMismatch:
      return "pitch-mismatch";
    case OffsetOutOfRange:
      return "offset-out-of-range";
    case ObjectTooSmall:
      return "object-too-small";
    case ModifierNotLinear:
      return "modifier-not-linear";
    case ModifierMismatch:
      return "modifier-mismatch";
    case NotOpaqueMemory:
      return "not-opaque-memory";
    case UuidMismatch:
      return "uuid-mismatch";
    case ModifierNotImportable:
      return "modifier-not-importable";
    case AuxPlane:
      return "aux-plane";
    case ObjectsDiffer:
      return "objects-differ";
    case ChromaNotAdjacent:
      return "chroma-not-adjacent";
    case TiledPlaneOffset:
      return "tiled-plane-offset";
    case ExportUnsupported:
      return "export-unsupported";
    case ExportFailed:
      return "export-failed";
    case SyncFailed:
      return "sync-failed";
    case ReadBackFailed:
      return "read-back-failed";
    case DescriptorInvalid:
      return "descriptor-invalid";
    case SurfacePoolEmpty:
      return "surface-pool-empty";
    case SurfacesNotMade:
      return "surfaces-not-made";
    case ContextNotMade:
      return "context-not-made";
    case SurfaceInUse:
      return "surface-in-use";
    case NoDevice:
      return "no-device";
    case ProfileUnsupported:
      return "profile-unsupported";
    case DecodeErrors:
      return "decode-errors";
    case DeviceLost:
      return "device-lost";
    case NoEgl:
      return "no-egl";
    case NoImportExtension:
      return "no-import-extension";
    case SoftwareRenderer:
      return "software-renderer";
    case EglBadMatch:
      return "egl-bad-match";
    case EglBadAlloc:
      return "egl-bad-alloc";
    case EglBadAccess:
      return "egl-bad-access";
    case EglBadParameter:
      return "egl-bad-parameter";
    case EglError:
      return "egl-error";
    case GlError:
      return "gl-error";
    case TextureTooLarge:
      return "texture-too-large";
    case ImportDisabled:
      return "import-disabled";
    case MemoryObjectUnsupported:
      return "memory-object-unsupported";
    case SelfTestMismatch:
      return "self-test-mismatch";
  }
  return "unknown";
}

}  // namespace dxva
