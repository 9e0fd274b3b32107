// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <string>
#include <vector>

namespace dxva {

// GST_DXVA_TEST, a comma-separated list read once per process. The first two loosen safety
// rules so that a machine without GPU and dma-buf can run the whole zero-copy path; never set
// them elsewhere:
//   memfd            a sealed memfd (F_SEAL_SHRINK) stands in for a dma-buf
//   software-import  software rasterisers may import (Mesa's can crash on foreign dma-bufs)
//   upload-ring      dxvaglupload uploads by its ring also where that is slower
//   read-in-place    it uploads mapped surfaces from where they lie, also where that is slower
//   verify           dxvaglupload's property of that name, for every element of the process
struct TestSwitch {
  bool memfd = false;
  bool software_import = false;
  bool upload_ring = false;
  bool read_in_place = false;
  bool verify = false;
  std::vector<std::string> unknown;  // words that switch nothing

  // Whether anything is on that real machines must not have.
  [[nodiscard]] bool loosens_rules() const { return memfd || software_import; }

  [[nodiscard]] static std::string words();  // all of them: "memfd,software-import,…"
  [[nodiscard]] static TestSwitch parse(const char* list);
};
[[nodiscard]] const TestSwitch& test_switch();

}  // namespace dxva
