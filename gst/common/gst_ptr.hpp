// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <memory>
#include <utility>

namespace dxva::gst {

// How a type counts references; objects by default, mini objects by name.
template <typename T>
struct Counted {
  static void ref(T* object) { gst_object_ref(object); }
  static void unref(T* object) { gst_object_unref(object); }
};
template <typename T>
struct CountedMiniObject {
  static void ref(T* object) { gst_mini_object_ref(GST_MINI_OBJECT_CAST(object)); }
  static void unref(T* object) { gst_mini_object_unref(GST_MINI_OBJECT_CAST(object)); }
};
template <>
struct Counted<GstBuffer> : CountedMiniObject<GstBuffer> {};
template <>
struct Counted<GstBufferList> : CountedMiniObject<GstBufferList> {};
template <>
struct Counted<GstCaps> : CountedMiniObject<GstCaps> {};
template <>
struct Counted<GstContext> : CountedMiniObject<GstContext> {};
template <>
struct Counted<GstEvent> : CountedMiniObject<GstEvent> {};
template <>
struct Counted<GstMemory> : CountedMiniObject<GstMemory> {};
template <>
struct Counted<GstMessage> : CountedMiniObject<GstMessage> {};
template <>
struct Counted<GstQuery> : CountedMiniObject<GstQuery> {};
template <>
struct Counted<GstSample> : CountedMiniObject<GstSample> {};

// One reference to a GStreamer object. How it came is said where it comes: adopt() for
// "transfer full", share() for "transfer none".
template <typename T>
class GstPtr {
 public:
  GstPtr() = default;
  GstPtr(std::nullptr_t) {}
  [[nodiscard]] static GstPtr adopt(T* object) { return GstPtr(object); }
  [[nodiscard]] static GstPtr share(T* object) {
    if (object) Counted<T>::ref(object);
    return GstPtr(object);
  }
  GstPtr(const GstPtr& other) : GstPtr(share(other.object_)) {}
  GstPtr(GstPtr&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  GstPtr& operator=(GstPtr other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~GstPtr() {
    if (object_) Counted<T>::unref(object_);
  }

  [[nodiscard]] T* get() const { return object_; }
  T* operator->() const { return object_; }
  explicit operator bool() const { return object_ != nullptr; }
  // Gives the reference away.
  [[nodiscard]] T* release() { return std::exchange(object_, nullptr); }
  void reset() { *this = GstPtr(); }

 private:
  explicit GstPtr(T* object) : object_(object) {}
  T* object_ = nullptr;
};

struct GFree {
  void operator()(void* memory) const { g_free(memory); }
};
using GlibString = std::unique_ptr<char, GFree>;  // a string that GLib allocated

struct StructureFree {
  void operator()(GstStructure* structure) const { gst_structure_free(structure); }
};
using StructurePtr = std::unique_ptr<GstStructure, StructureFree>;

}  // namespace dxva::gst
