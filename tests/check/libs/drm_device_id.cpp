// SPDX-License-Identifier: LGPL-2.1-or-later

// From nodes to GPUs, on a tree of sysfs as the kernel lays it out: a GPU with both nodes, a
// second one, and a display controller without a renderer.

#include "lib/drm/device_id.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "lib/base/unique_fd.hpp"
#include "tests/check/support/check.hpp"

using namespace dxva;
namespace fs = std::filesystem;

namespace {

// Removed at the end.
class FakeMachine {
 public:
  FakeMachine() {
    char name[] = "/tmp/dxva-drm-XXXXXX";
    fail_unless(::mkdtemp(name) != nullptr);
    root_ = name;
    fs::create_directories(root_ / "sys/dev/char");
    fs::create_directories(root_ / "dri");
  }
  ~FakeMachine() { fs::remove_all(root_); }
  FakeMachine(const FakeMachine&) = delete;
  FakeMachine& operator=(const FakeMachine&) = delete;

  void add_node(const std::string& gpu, const std::string& node, int minor) const {
    const std::string number = "226:" + std::to_string(minor);
    const fs::path device = root_ / "sys/devices" / gpu;
    const fs::path folder = device / "drm" / node;
    fs::create_directories(folder);
    std::ofstream(folder / "dev") << number << "\n";
    fs::create_directory_symlink(device, folder / "device");
    fs::create_directory_symlink(folder, root_ / "sys/dev/char" / number);
    std::ofstream(root_ / "dri" / node);  // only its name matters here
  }
  // A character device that is no GPU has no drm folder.
  void add_other(const std::string& number) const {
    const fs::path device = root_ / "sys/devices/other";
    fs::create_directories(device / "node");
    fs::create_directory_symlink(device, device / "node/device");
    fs::create_directory_symlink(device / "node", root_ / "sys/dev/char" / number);
  }
  [[nodiscard]] drm::Roots roots() const {
    return {.sys = root_ / "sys", .dri = root_ / "dri"};
  }
  [[nodiscard]] std::string dri(const std::string& node) const { return root_ / "dri" / node; }

 private:
  fs::path root_;
};

void populate(const FakeMachine& machine) {
  machine.add_node("gpu0", "card0", 0);
  machine.add_node("gpu0", "renderD128", 128);
  machine.add_node("gpu1", "card1", 1);
  machine.add_node("gpu1", "renderD129", 129);
  machine.add_node("panel", "card2", 2);
}

GST_START_TEST(all_nodes_of_a_gpu_are_one_device) {
  const FakeMachine machine;
  populate(machine);
  const auto primary = drm::device_of_number(226, 0, machine.roots());
  const auto render = drm::device_of_number(226, 128, machine.roots());
  const auto other = drm::device_of_number(226, 129, machine.roots());
  fail_unless(primary && render && other);
  fail_unless(primary->id == render->id);
  fail_unless(primary->id == (drm::DeviceId{.major = 226, .minor = 128}));
  fail_unless(primary->render_node == machine.dri("renderD128"));
  fail_unless(render->render_node == machine.dri("renderD128"));
  fail_if(render->id == other->id);
  fail_unless(other->render_node == machine.dri("renderD129"));
}
GST_END_TEST;

GST_START_TEST(the_kernels_driver_is_named_where_it_has_a_name) {
  const FakeMachine machine;
  populate(machine);
  const fs::path sys = machine.roots().sys;
  fs::create_directories(sys / "bus/pci/drivers/amdgpu");
  fs::create_directory_symlink(sys / "bus/pci/drivers/amdgpu", sys / "devices/gpu0/driver");
  const auto named = drm::device_of_number(226, 0, machine.roots());
  const auto nameless = drm::device_of_number(226, 129, machine.roots());
  fail_unless(named && nameless);
  fail_unless(named->driver == "amdgpu");
  fail_unless(nameless->driver.empty());
}
GST_END_TEST;

GST_START_TEST(device_without_renderer_keeps_its_own_number) {
  const FakeMachine machine;
  populate(machine);
  const auto panel = drm::device_of_number(226, 2, machine.roots());
  fail_unless(bool(panel));
  fail_unless(panel->id == (drm::DeviceId{.major = 226, .minor = 2}));
  fail_unless(panel->render_node.empty());
}
GST_END_TEST;

GST_START_TEST(renderer_that_a_container_lacks_is_not_named) {
  const FakeMachine machine;
  populate(machine);
  fs::remove(machine.dri("renderD128"));
  const auto device = drm::device_of_number(226, 0, machine.roots());
  fail_unless(bool(device));
  fail_unless(device->render_node.empty());
  fail_unless_equals_int(device->id.minor, 128);
}
GST_END_TEST;

GST_START_TEST(other_devices_and_files_are_no_gpus) {
  const FakeMachine machine;
  populate(machine);
  machine.add_other("1:3");
  const auto check = [](const Result<drm::Device>& device) {
    fail_if(bool(device));
    fail_unless(device.error().code == ErrorCode::Unsupported ||
                device.error().code == ErrorCode::BadInput);
  };
  check(drm::device_of_number(1, 3, machine.roots()));
  check(drm::device_of_number(226, 77, machine.roots()));
  check(drm::device_of_path("/dev/null", machine.roots()));
  check(drm::device_of_path("/", machine.roots()));
  check(drm::device_of_path("/nonexistent", machine.roots()));
  check(drm::device_of_path(machine.dri("renderD128"), machine.roots()));  // a regular file
  const UniqueFd null{::open("/dev/null", O_RDONLY | O_CLOEXEC)};
  check(drm::device_of_fd(null.get(), machine.roots()));
  check(drm::device_of_fd(-1, machine.roots()));
}
GST_END_TEST;

GST_START_TEST(paths_and_descriptors_lead_to_the_number_behind_them) {
  // Any character device will do as the node; the tree says that its number is a GPU's.
  const FakeMachine machine;
  const fs::path device = fs::path(machine.roots().sys) / "devices/gpu0";
  fs::create_directories(device / "drm/renderD128");
  std::ofstream(device / "drm/renderD128/dev") << "226:128\n";
  fs::create_directories(device / "node");
  fs::create_directory_symlink(device, device / "node/device");
  fs::create_directory_symlink(device / "node", fs::path(machine.roots().sys) / "dev/char/1:3");

  const std::string link = machine.dri("by-path");
  fs::create_symlink("/dev/null", link);
  const UniqueFd fd{::open("/dev/null", O_RDONLY | O_CLOEXEC)};
  const drm::DeviceId expected{.major = 226, .minor = 128};
  for (const auto& found : {drm::device_of_path("/dev/null", machine.roots()),
                            drm::device_of_path(link, machine.roots()),
                            drm::device_of_fd(fd.get(), machine.roots()),
                            drm::device_of_fd(fd.duplicate().get(), machine.roots())}) {
    fail_unless(bool(found));
    fail_unless(found->id == expected);
  }
}
GST_END_TEST;

GST_START_TEST(render_nodes_come_in_the_order_of_their_numbers) {
  const FakeMachine machine;
  for (const char* node :
       {"renderD1000", "card0", "renderD129", "renderD128", "renderDx", "renderD", "by-path"})
    std::ofstream(machine.dri(node));
  const auto nodes = drm::render_nodes(machine.roots());
  fail_unless(nodes ==
              std::vector<std::string>({machine.dri("renderD128"), machine.dri("renderD129"),
                                        machine.dri("renderD1000")}));
  fail_unless(drm::render_nodes({.sys = "/nonexistent", .dri = "/nonexistent"}).empty());
}
GST_END_TEST;

Suite* drm_device_id_suite() {
  Suite* suite = suite_create("drm_device_id");
  TCase* tcase = tcase_create("general");
  suite_add_tcase(suite, tcase);
  tcase_add_test(tcase, all_nodes_of_a_gpu_are_one_device);
  tcase_add_test(tcase, the_kernels_driver_is_named_where_it_has_a_name);
  tcase_add_test(tcase, device_without_renderer_keeps_its_own_number);
  tcase_add_test(tcase, renderer_that_a_container_lacks_is_not_named);
  tcase_add_test(tcase, other_devices_and_files_are_no_gpus);
  tcase_add_test(tcase, paths_and_descriptors_lead_to_the_number_behind_them);
  tcase_add_test(tcase, render_nodes_come_in_the_order_of_their_numbers);
  return suite;
}

}  // namespace

GST_CHECK_MAIN(drm_device_id)
