// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/vulkan/memory_exporter.hpp"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <utility>
#include <vector>

#include "lib/vulkan/functions.hpp"

namespace dxva::vulkan {
namespace {

constexpr auto kOpaqueFd = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT;

Error vulkan_error(const char* call, VkResult result) {
  const bool memory =
      result == VK_ERROR_OUT_OF_HOST_MEMORY || result == VK_ERROR_OUT_OF_DEVICE_MEMORY;
  return Error{.code = memory                           ? ErrorCode::NoMemory
                       : result == VK_ERROR_DEVICE_LOST ? ErrorCode::DeviceLost
                                                        : ErrorCode::Unsupported,
               .call = call,
               .native = result};
}

struct Instance {
  Functions vk;
  VkInstance handle = nullptr;
};

Result<Instance> make_instance() {
  Instance out;
  if (auto loaded = load_loader(out.vk); !loaded) return loaded.error();
  // 1.1 has UUIDs and external memory in its core. A loader of 1.0 refuses the version.
  VkApplicationInfo application{};
  application.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO;
  application.pApplicationName = "gst-dxva";
  application.apiVersion = VK_API_VERSION_1_1;
  VkInstanceCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO;
  info.pApplicationInfo = &application;
  if (const VkResult made = out.vk.CreateInstance(&info, nullptr, &out.handle);
      made != VK_SUCCESS)
    return vulkan_error("vkCreateInstance", made);
  if (auto loaded = load_instance(out.vk, out.handle); !loaded) {
    if (out.vk.instance.DestroyInstance) out.vk.instance.DestroyInstance(out.handle, nullptr);
    return loaded.error();
  }
  return out;
}

// One for the process, and never destroyed: the loader unloads the drivers with the last
// instance, and NVIDIA's (seen with 580.159) takes the thread's current OpenGL context with it:
// every GL call after that does nothing. A failure is not kept.
Result<Instance> the_instance() {
  static std::mutex mutex;
  static std::optional<Instance> known;
  const std::lock_guard lock(mutex);
  if (!known) {
    auto made = make_instance();
    if (!made) return made.error();
    known = *made;
  }
  return *known;
}

// Whoever has memory keeps the device that it is from.
class Device {
 public:
  Device() = default;
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;
  ~Device() {
    if (device_) vk_.device.DestroyDevice(device_, nullptr);
  }

  Status open(const std::optional<DeviceUuids>& wanted);

  [[nodiscard]] VkDevice get() const { return device_; }
  [[nodiscard]] const DeviceFunctions& vk() const { return vk_.device; }
  [[nodiscard]] const DeviceUuids& uuids() const { return uuids_; }
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] std::optional<uint32_t> memory_type(Placement placement) const;

 private:
  [[nodiscard]] bool exports_memory(VkPhysicalDevice physical) const;
  Status make_device(VkPhysicalDevice physical);

  Functions vk_;
  VkDevice device_ = nullptr;
  DeviceUuids uuids_;
  std::string name_;
  VkPhysicalDeviceMemoryProperties memory_{};
};

bool Device::exports_memory(VkPhysicalDevice physical) const {
  uint32_t count = 0;
  if (vk_.instance.EnumerateDeviceExtensionProperties(physical, nullptr, &count, nullptr) !=
      VK_SUCCESS)
    return false;
  std::vector<VkExtensionProperties> extensions(count);
  if (vk_.instance.EnumerateDeviceExtensionProperties(physical, nullptr, &count,
                                                      extensions.data()) != VK_SUCCESS)
    return false;
  const bool listed =
      std::any_of(extensions.begin(), extensions.end(), [](const VkExtensionProperties& e) {
        return std::strcmp(e.extensionName, VK_KHR_EXTERNAL_MEMORY_FD_EXTENSION_NAME) == 0;
      });
  if (!listed) return false;
  VkPhysicalDeviceExternalBufferInfo asked{};
  asked.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_BUFFER_INFO;
  asked.usage = VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT;
  asked.handleType = kOpaqueFd;
  VkExternalBufferProperties answer{};
  answer.sType = VK_STRUCTURE_TYPE_EXTERNAL_BUFFER_PROPERTIES;
  vk_.instance.GetPhysicalDeviceExternalBufferProperties(physical, &asked, &answer);
  return (answer.externalMemoryProperties.externalMemoryFeatures &
          VK_EXTERNAL_MEMORY_FEATURE_EXPORTABLE_BIT) != 0;
}

Status Device::make_device(VkPhysicalDevice physical) {
  // Vulkan wants a queue of some kind; nothing is ever submitted to it.
  const float priority = 0;
  VkDeviceQueueCreateInfo queue{};
  queue.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO;
  queue.queueCount = 1;
  queue.pQueuePriorities = &priority;
  const char* const extension = VK_KHR_EXTERNAL_MEMORY_FD_EXTENSION_NAME;
  VkDeviceCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO;
  info.queueCreateInfoCount = 1;
  info.pQueueCreateInfos = &queue;
  info.enabledExtensionCount = 1;
  info.ppEnabledExtensionNames = &extension;
  if (const VkResult made = vk_.instance.CreateDevice(physical, &info, nullptr, &device_);
      made != VK_SUCCESS)
    return vulkan_error("vkCreateDevice", made);
  vk_.instance.GetPhysicalDeviceMemoryProperties(physical, &memory_);
  return load_device(vk_, device_);
}

Status Device::open(const std::optional<DeviceUuids>& wanted) {
  const auto instance = the_instance();
  if (!instance) return instance.error();
  vk_ = instance->vk;
  uint32_t count = 0;
  VkResult listed = vk_.instance.EnumeratePhysicalDevices(instance->handle, &count, nullptr);
  std::vector<VkPhysicalDevice> all(count);
  if (listed == VK_SUCCESS)
    listed = vk_.instance.EnumeratePhysicalDevices(instance->handle, &count, all.data());
  if (listed != VK_SUCCESS) return vulkan_error("vkEnumeratePhysicalDevices", listed);
  for (uint32_t i = 0; i < count; ++i) {
    VkPhysicalDeviceIDProperties ids{};
    ids.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ID_PROPERTIES;
    VkPhysicalDeviceProperties2 properties{};
    properties.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2;
    properties.pNext = &ids;
    vk_.instance.GetPhysicalDeviceProperties2(all[i], &properties);
    if (properties.properties.apiVersion < VK_API_VERSION_1_1) continue;
    DeviceUuids found;
    std::copy(std::begin(ids.deviceUUID), std::end(ids.deviceUUID), found.device.begin());
    std::copy(std::begin(ids.driverUUID), std::end(ids.driverUUID), found.driver.begin());
    if (wanted && *wanted != found) continue;
    if (!exports_memory(all[i])) continue;
    uuids_ = found;
    name_ = properties.properties.deviceName;
    return make_device(all[i]);
  }
  return Error{.code = ErrorCode::Unsupported,
               .call = "vkEnumeratePhysicalDevices",
               .text = std::to_string(count) + " Vulkan devices, none that exports memory" +
                       (wanted ? " and has these UUIDs" : "")};
}

std::optional<uint32_t> Device::memory_type(Placement placement) const {
  // Coherent always: nothing here flushes. Write-combined memory is slow to read and right.
  constexpr VkMemoryPropertyFlags kNeeded =
      VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
  const VkMemoryPropertyFlags better = placement == Placement::Host
                                           ? VK_MEMORY_PROPERTY_HOST_CACHED_BIT
                                           : VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT;
  std::optional<uint32_t> out;
  for (uint32_t i = 0; i < memory_.memoryTypeCount; ++i) {
    const VkMemoryPropertyFlags flags = memory_.memoryTypes[i].propertyFlags;
    if ((flags & kNeeded) != kNeeded) continue;
    if ((flags & better) != 0) return i;
    if (placement == Placement::Host && !out) out = i;
  }
  return out;
}

class Block final : public ExportableMemory {
 public:
  Block(std::shared_ptr<Device> device, uint64_t size_bytes)
      : device_(std::move(device)), size_bytes_(size_bytes) {}
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;
  // Freeing unmaps.
  ~Block() override {
    if (memory_) device_->vk().FreeMemory(device_->get(), memory_, nullptr);
  }

  Status allocate(uint32_t memory_type) {
    VkExportMemoryAllocateInfo exported{};
    exported.sType = VK_STRUCTURE_TYPE_EXPORT_MEMORY_ALLOCATE_INFO;
    exported.handleTypes = kOpaqueFd;
    VkMemoryAllocateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO;
    info.pNext = &exported;
    info.allocationSize = size_bytes_;
    info.memoryTypeIndex = memory_type;
    const DeviceFunctions& vk = device_->vk();
    if (const VkResult made = vk.AllocateMemory(device_->get(), &info, nullptr, &memory_);
        made != VK_SUCCESS)
      return vulkan_error("vkAllocateMemory", made);
    void* mapped = nullptr;
    if (const VkResult done =
            vk.MapMemory(device_->get(), memory_, 0, VK_WHOLE_SIZE, 0, &mapped);
        done != VK_SUCCESS)
      return vulkan_error("vkMapMemory", done);
    data_ = static_cast<uint8_t*>(mapped);
    // Vulkan says nothing about what is in it, and somebody else's pixels could be.
    std::memset(data_, 0, size_bytes_);
    return Done{};
  }

  uint8_t* data() const override { return data_; }
  uint64_t size_bytes() const override { return size_bytes_; }
  Result<UniqueFd> share_fd() const override {
    VkMemoryGetFdInfoKHR info{};
    info.sType = VK_STRUCTURE_TYPE_MEMORY_GET_FD_INFO_KHR;
    info.memory = memory_;
    info.handleType = kOpaqueFd;
    int fd = -1;
    const VkResult got = device_->vk().GetMemoryFdKHR(device_->get(), &info, &fd);
    if (got != VK_SUCCESS) return vulkan_error("vkGetMemoryFdKHR", got);
    return UniqueFd{fd};
  }

 private:
  const std::shared_ptr<Device> device_;
  const uint64_t size_bytes_;
  VkDeviceMemory memory_ = VK_NULL_HANDLE;
  uint8_t* data_ = nullptr;
};

class VulkanExporter final : public MemoryExporter {
 public:
  explicit VulkanExporter(std::shared_ptr<Device> device) : device_(std::move(device)) {}

  Result<std::unique_ptr<ExportableMemory>> allocate(uint64_t size_bytes,
                                                     Placement placement) override {
    const auto type = device_->memory_type(placement);
    if (!type || size_bytes == 0)
      return Error{.code = ErrorCode::Unsupported,
                   .call = "vkAllocateMemory",
                   .text = "the device has no such memory that the CPU can map"};
    auto block = std::make_unique<Block>(device_, size_bytes);
    if (auto allocated = block->allocate(*type); !allocated) return allocated.error();
    return std::unique_ptr<ExportableMemory>(std::move(block));
  }
  const DeviceUuids& uuids() const override { return device_->uuids(); }
  const std::string& device_name() const override { return device_->name(); }

 private:
  const std::shared_ptr<Device> device_;
};

}  // namespace

Result<std::shared_ptr<MemoryExporter>> MemoryExporter::open(
    const std::optional<DeviceUuids>& wanted) {
  auto device = std::make_shared<Device>();
  if (auto opened = device->open(wanted); !opened) return opened.error();
  return std::shared_ptr<MemoryExporter>(std::make_shared<VulkanExporter>(std::move(device)));
}

}  // namespace dxva::vulkan
