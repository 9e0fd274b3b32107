// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/vulkan/functions.hpp"

#include <dlfcn.h>

namespace dxva::vulkan {
namespace {

// Once, and for the process's life: Vulkan drivers start threads and leave thread-local
// destructors behind, and code that is unmapped under those ends the process.
void* loader() {
  static void* const handle = ::dlopen("libvulkan.so.1", RTLD_NOW | RTLD_LOCAL);
  return handle;
}

Error missing(const char* name) {
  return Error{.code = ErrorCode::Unsupported, .call = name, .text = "not in this Vulkan"};
}

}  // namespace

Status load_loader(Functions& out) {
  if (!loader())
    return Error{
        .code = ErrorCode::Unsupported, .call = "dlopen", .text = "there is no libvulkan.so.1"};
  out.GetInstanceProcAddr =
      reinterpret_cast<PFN_vkGetInstanceProcAddr>(::dlsym(loader(), "vkGetInstanceProcAddr"));
  if (!out.GetInstanceProcAddr) return missing("vkGetInstanceProcAddr");
  out.CreateInstance = reinterpret_cast<PFN_vkCreateInstance>(
      out.GetInstanceProcAddr(nullptr, "vkCreateInstance"));
  if (!out.CreateInstance) return missing("vkCreateInstance");
  return Done{};
}

Status load_instance(Functions& out, VkInstance instance) {
  const char* last = "";
  const auto load = [&](auto& function, const char* name) {
    last = name;
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(
        out.GetInstanceProcAddr(instance, name));
    return function != nullptr;
  };
  InstanceFunctions& vk = out.instance;
  const bool all =
      load(vk.DestroyInstance, "vkDestroyInstance") &&
      load(vk.EnumeratePhysicalDevices, "vkEnumeratePhysicalDevices") &&
      load(vk.EnumerateDeviceExtensionProperties, "vkEnumerateDeviceExtensionProperties") &&
      load(vk.GetPhysicalDeviceProperties2, "vkGetPhysicalDeviceProperties2") &&
      load(vk.GetPhysicalDeviceMemoryProperties, "vkGetPhysicalDeviceMemoryProperties") &&
      load(vk.GetPhysicalDeviceExternalBufferProperties,
           "vkGetPhysicalDeviceExternalBufferProperties") &&
      load(vk.CreateDevice, "vkCreateDevice") &&
      load(vk.GetDeviceProcAddr, "vkGetDeviceProcAddr");
  return all ? Status(Done{}) : Status(missing(last));
}

Status load_device(Functions& out, VkDevice device) {
  const char* last = "";
  const auto load = [&](auto& function, const char* name) {
    last = name;
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(
        out.instance.GetDeviceProcAddr(device, name));
    return function != nullptr;
  };
  DeviceFunctions& vk = out.device;
  const bool all = load(vk.DestroyDevice, "vkDestroyDevice") &&
                   load(vk.AllocateMemory, "vkAllocateMemory") &&
                   load(vk.FreeMemory, "vkFreeMemory") && load(vk.MapMemory, "vkMapMemory") &&
                   load(vk.GetMemoryFdKHR, "vkGetMemoryFdKHR");
  return all ? Status(Done{}) : Status(missing(last));
}

}  // namespace dxva::vulkan
