// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

#include <memory>

namespace dxva::gst {

// The memory that this one is a part of (gst_memory_share), or itself: what its maker said
// about it hangs there.
[[nodiscard]] inline GstMemory* whole_memory(GstMemory* memory) {
  while (memory->parent) memory = memory->parent;
  return memory;
}

// Something that hangs on another's memory or object under a name, which must live as long as
// the process and is the same in both plugins. Thread-safe, as GLib's qdata is; what hangs
// there is as safe as it is itself.
template <typename T>
class Attached {
 public:
  explicit Attached(const char* name) : quark_(g_quark_from_static_string(name)) {}

  // In place of what hung there before. It ends with the memory.
  void keep(GstMemory* memory, std::unique_ptr<T> value) const {
    gst_mini_object_set_qdata(GST_MINI_OBJECT_CAST(memory), quark_, value.release(), end);
  }
  void keep(GObject* object, std::unique_ptr<T> value) const {
    g_object_set_qdata_full(object, quark_, value.release(), end);
  }
  // Whoever owns it lets it live longer than the memory. Null: nothing hangs there.
  void lend(GstMemory* memory, T* value) const {
    gst_mini_object_set_qdata(GST_MINI_OBJECT_CAST(memory), quark_, value, nullptr);
  }

  // Null: nothing. A share is asked for its whole's.
  [[nodiscard]] T* of(GstMemory* memory) const {
    return static_cast<T*>(
        gst_mini_object_get_qdata(GST_MINI_OBJECT_CAST(whole_memory(memory)), quark_));
  }
  [[nodiscard]] T* of(GObject* object) const {
    return static_cast<T*>(g_object_get_qdata(object, quark_));
  }

 private:
  static void end(gpointer value) { delete static_cast<T*>(value); }

  const GQuark quark_;
};

// A word about a memory that is yes or no; nothing said is no.
class MemoryMark {
 public:
  explicit MemoryMark(const char* name) : quark_(g_quark_from_static_string(name)) {}

  void set(GstMemory* memory, bool yes) const {
    gst_mini_object_set_qdata(GST_MINI_OBJECT_CAST(whole_memory(memory)), quark_,
                              GINT_TO_POINTER(yes), nullptr);
  }
  [[nodiscard]] bool is_set(GstMemory* memory) const {
    return gst_mini_object_get_qdata(GST_MINI_OBJECT_CAST(whole_memory(memory)), quark_) !=
           nullptr;
  }

 private:
  const GQuark quark_;
};

}  // namespace dxva::gst
