// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

// What the findings mean: pure, from one document to one outcome and a sentence for each
// problem.

#include <string>
#include <vector>

#include "tools/doctor/copies.hpp"
#include "tools/doctor/json.hpp"

namespace dxva::doctor {

// The program's exit status.
enum class Outcome {
  ZeroCopy = 0,  // decoded by the device, textures without a copy
  Copies = 1,    // decoded by the device, frames copied: all, or some
  Software = 2,  // decoded on the CPU, or left to another decoder
  Broken = 3,    // no picture, or a wrong one
};
[[nodiscard]] const char* outcome_name(Outcome outcome);  // "zero-copy", "copies", …

struct Problem {
  std::string id;      // stable, for programs: "no-render-node"
  std::string what;    // a sentence
  std::string remedy;  // a sentence; empty: there is none
};

struct Verdict {
  Outcome outcome = Outcome::Broken;
  Copies copies;
  // dxvadec refuses, as it was told to, and this element is the next that playbin tries.
  std::string left_to;
  std::vector<Problem> problems;  // what stands in the way most comes first

  [[nodiscard]] Json json() const;
};

// `findings` has the members system, environment, asked, drm, va, gl, decode, ranks and tracers
// (probes.hpp, main.cpp).
[[nodiscard]] Verdict judge(const Json& findings);

// How the error of a probe begins that was left out because of another one's, which follows.
inline constexpr const char* kNotTried = "not tried: ";

// Whether what decodes and what draws are one GPU: "same" or "different"; "unknown" where one
// of them is on no GPU that it names.
[[nodiscard]] std::string gpu_match(const Json& findings);

// The step that a codec would take here: what the test clip took where the device decodes the
// codec, else "software".
[[nodiscard]] std::string expected_step(const Json& findings, const std::string& codec);

}  // namespace dxva::doctor
