// SPDX-License-Identifier: LGPL-2.1-or-later

// The targets with any compiler, the same inputs every time: what a suite can run. libFuzzer
// looks for new inputs and finds more; a file that it wrote is run by naming it.
//
//   test_softva_h264 [FILE…]

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <random>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace {

using Input = std::vector<uint8_t>;

constexpr unsigned kGroups = 8;
constexpr unsigned kInputs = 125;  // of a group

// 0xff ends the patches of a picture in most targets: how often it comes decides whether there
// are few pictures with much damage or many with little.
Input random_input(unsigned seed) {
  std::mt19937 random(seed);
  Input out(random() % 600);
  const unsigned ends = seed % 4 * 64;  // of 256 bytes
  for (uint8_t& byte : out)
    byte = random() % 256 < ends ? 0xff : static_cast<uint8_t>(random());
  return out;
}

void run(const Input& input) {
  (void)LLVMFuzzerTestOneInput(input.data(), input.size());
}

}  // namespace

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    std::ifstream file(argv[i], std::ios::binary);
    if (!file) {
      std::fprintf(stderr, "%s cannot be read\n", argv[i]);
      return 2;
    }
    run(Input(std::istreambuf_iterator<char>(file), {}));
  }
  if (argc > 1) return 0;
  // A crash says by the last line between which inputs it was.
  for (unsigned group = 0; group < kGroups; ++group) {
    for (unsigned i = 0; i < kInputs; ++i) run(random_input(group * kInputs + i));
    std::printf("ok %u - inputs up to %u\n", group + 1, (group + 1) * kInputs);
    std::fflush(stdout);
  }
  std::printf("1..%u\n", kGroups);
  return 0;
}
