// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#define VK_NO_PROTOTYPES
#include <vulkan/vulkan_core.h>

#include "lib/base/result.hpp"

namespace dxva::vulkan {

// What this folder calls, by names without "vk"; each group all or nothing.
struct InstanceFunctions {
  PFN_vkDestroyInstance DestroyInstance = nullptr;
  PFN_vkEnumeratePhysicalDevices EnumeratePhysicalDevices = nullptr;
  PFN_vkEnumerateDeviceExtensionProperties EnumerateDeviceExtensionProperties = nullptr;
  PFN_vkGetPhysicalDeviceProperties2 GetPhysicalDeviceProperties2 = nullptr;
  PFN_vkGetPhysicalDeviceMemoryProperties GetPhysicalDeviceMemoryProperties = nullptr;
  PFN_vkGetPhysicalDeviceExternalBufferProperties GetPhysicalDeviceExternalBufferProperties =
      nullptr;
  PFN_vkCreateDevice CreateDevice = nullptr;
  PFN_vkGetDeviceProcAddr GetDeviceProcAddr = nullptr;
};
struct DeviceFunctions {
  PFN_vkDestroyDevice DestroyDevice = nullptr;
  PFN_vkAllocateMemory AllocateMemory = nullptr;
  PFN_vkFreeMemory FreeMemory = nullptr;
  PFN_vkMapMemory MapMemory = nullptr;
  PFN_vkGetMemoryFdKHR GetMemoryFdKHR = nullptr;
};
struct Functions {
  PFN_vkGetInstanceProcAddr GetInstanceProcAddr = nullptr;
  PFN_vkCreateInstance CreateInstance = nullptr;
  InstanceFunctions instance;
  DeviceFunctions device;
};

// Opens libvulkan.so.1 and fills the first two.
[[nodiscard]] Status load_loader(Functions& out);
// Fills the group. Where that fails the object cannot even be destroyed, and leaks: no loader
// does that.
[[nodiscard]] Status load_instance(Functions& out, VkInstance instance);
[[nodiscard]] Status load_device(Functions& out, VkDevice device);

}  // namespace dxva::vulkan
