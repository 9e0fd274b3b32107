// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

namespace dxva {

// GST_DXVA_TEST, a comma-separated list read once per process. It loosens two safety rules so
// that a machine without GPU and dma-buf can run the whole zero-copy path; never set it
// elsewhere:
//   memfd            a sealed memfd (F_SEAL_SHRINK) stands in for a dma-buf
//   software-import  software rasterisers may import (Mesa's can crash on foreign dma-bufs)
//   verify           compare the first frame of every imported layout with a CPU read-back
struct TestSwitch {
  bool memfd = false;
  bool software_import = false;
  bool verify = false;

  [[nodiscard]] static TestSwitch parse(const char* list);
};
[[nodiscard]] const TestSwitch& test_switch();

}  // namespace dxva
