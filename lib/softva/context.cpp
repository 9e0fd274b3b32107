// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/softva/context.hpp"

#include <chrono>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include "lib/softva/driver.hpp"
#include "lib/softva/video_processor.hpp"

namespace dxva::softva {
namespace {

// Rendering the largest buffer again and again is legal, taking all memory that way is not.
constexpr uint64_t kMaxPictureBytes = uint64_t{512} << 20;
constexpr size_t kMaxPictureBuffers = 1 << 16;

VAStatus decode_status(const Error& error) {
  return error.code == ErrorCode::NoMemory ? VA_STATUS_ERROR_ALLOCATION_FAILED
                                           : VA_STATUS_ERROR_DECODING_ERROR;
}

// Writes the picture; false when the surface cannot hold it.
bool store(const Pixels& pixels, Surface::Rendering& rendering) {
  auto stored = rendering.surface().with_pixels(
      rendering.fenced() ? CpuAccess::Mode::FencedWrite : CpuAccess::Mode::Write,
      [&pixels](const PixelView& view) { return store_picture(pixels, view); });
  rendering.set_failed(!stored);
  return bool(stored);
}

// A client that changes its context in the middle of a stream refers to pictures of the old
// one: only its decoder has what these were coded with. The old context may be gone.
void take_over_decoder(Driver& driver, Context& context,
                       std::span<const VASurfaceID> references) {
  for (const VASurfaceID id : references) {
    const auto surface = driver.surfaces.find(id);
    auto decoder = surface ? surface->decoder() : nullptr;
    if (!decoder || decoder->profile != context.config.profile) continue;
    context.decoder = std::move(decoder);
    return;
  }
}

VAStatus decode_into(Driver& driver, Context& context, const Picture& picture,
                     std::shared_ptr<Surface::Rendering> rendering) {
  if (driver.knobs.decode_delay_ms > 0)
    std::this_thread::sleep_for(std::chrono::milliseconds(driver.knobs.decode_delay_ms));
  const std::vector<VASurfaceID> references = context.decoder->decoder->references(picture);
  if (!context.begun) take_over_decoder(driver, context, references);
  const std::lock_guard lock(context.decoder->mutex);
  FrameDecoder& decoder = *context.decoder->decoder;
  auto pixels = decoder.decode(picture);
  if (!pixels) {
    rendering->set_failed(true);
    return decode_status(pixels.error());
  }
  context.begun = true;
  rendering->surface().set_decoder(decoder.can_be_taken_over() ? context.decoder : nullptr);
  const auto shown = decoder.take_shown();
  const auto surface = shown ? driver.surfaces.find(shown->surface) : nullptr;
  if (shown && !surface) {
    rendering->set_failed(true);
    return VA_STATUS_ERROR_INVALID_SURFACE;
  }
  if (surface) {
    auto second = std::make_shared<Surface::Rendering>(surface);
    if (driver.late)
      driver.late->post([pixels = shown->pixels, second] { (void)store(pixels, *second); });
    else if (!store(shown->pixels, *second))
      return VA_STATUS_ERROR_UNSUPPORTED_RT_FORMAT;
  }
  if (driver.late) {
    if (driver.fences) rendering->fence(driver.fences);
    driver.late->post([pixels = std::move(*pixels), rendering = std::move(rendering)] {
      (void)store(pixels, *rendering);
    });
    return VA_STATUS_SUCCESS;
  }
  return store(*pixels, *rendering) ? VA_STATUS_SUCCESS : VA_STATUS_ERROR_UNSUPPORTED_RT_FORMAT;
}

}  // namespace

VAStatus create_context(Driver& driver, VAConfigID config_id, int width, int height, int,
                        VASurfaceID* targets, int target_count, VAContextID* id) {
  const auto config = driver.configs.find(config_id);
  if (!config) return VA_STATUS_ERROR_INVALID_CONFIG;
  if (!id || target_count < 0 || (target_count > 0 && !targets))
    return VA_STATUS_ERROR_INVALID_PARAMETER;
  // A video processor's targets have their own size, so clients often name none.
  const bool processor = config->entrypoint == VAEntrypointVideoProc;
  const int smallest = processor ? 0 : 1;
  if (width < smallest || height < smallest || static_cast<uint32_t>(width) > kMaxSize ||
      static_cast<uint32_t>(height) > kMaxSize)
    return VA_STATUS_ERROR_RESOLUTION_NOT_SUPPORTED;
  for (int i = 0; i < target_count; ++i)
    if (!driver.surfaces.find(targets[i])) return VA_STATUS_ERROR_INVALID_SURFACE;
  if (driver.fails(Call::CreateContext)) return VA_STATUS_ERROR_ALLOCATION_FAILED;

  std::shared_ptr<SharedDecoder> shared;
  if (!processor) {
    auto decoder = FrameDecoder::create(config->profile);
    if (!decoder)
      return decoder.error().code == ErrorCode::Unsupported
                 ? VA_STATUS_ERROR_UNSUPPORTED_PROFILE
                 : VA_STATUS_ERROR_ALLOCATION_FAILED;
    shared.reset(new SharedDecoder{.profile = config->profile, .decoder = std::move(*decoder)});
  }
  std::shared_ptr<Context> context(new Context{.config = *config,
                                               .width = static_cast<uint32_t>(width),
                                               .height = static_cast<uint32_t>(height),
                                               .decoder = std::move(shared)});
  *id = driver.contexts.add(std::move(context));
  return VA_STATUS_SUCCESS;
}

VAStatus destroy_context(Driver& driver, VAContextID id) {
  return driver.contexts.remove(id) ? VA_STATUS_SUCCESS : VA_STATUS_ERROR_INVALID_CONTEXT;
}

VAStatus begin_picture(Driver& driver, VAContextID id, VASurfaceID target) {
  const auto context = driver.contexts.find(id);
  if (!context) return VA_STATUS_ERROR_INVALID_CONTEXT;
  auto surface = driver.surfaces.find(target);
  if (!surface) return VA_STATUS_ERROR_INVALID_SURFACE;
  if (driver.fails(Call::BeginPicture, surface->number()))
    return VA_STATUS_ERROR_OPERATION_FAILED;
  if (!(surface->layout().format->rt_format & context->config.rt_formats))
    return VA_STATUS_ERROR_UNSUPPORTED_RT_FORMAT;

  const std::lock_guard lock(context->mutex);
  // A client that failed halfway may never end its picture; the next one starts afresh.
  context->target = std::move(surface);
  context->picture = {.target = target, .width = context->width, .height = context->height};
  context->picture_bytes = 0;
  return VA_STATUS_SUCCESS;
}

VAStatus render_picture(Driver& driver, VAContextID id, VABufferID* buffers, int count) {
  const auto context = driver.contexts.find(id);
  if (!context) return VA_STATUS_ERROR_INVALID_CONTEXT;
  if (!buffers || count <= 0) return VA_STATUS_ERROR_INVALID_PARAMETER;
  if (driver.fails(Call::RenderPicture)) return VA_STATUS_ERROR_OPERATION_FAILED;

  const std::lock_guard lock(context->mutex);
  if (!context->target) return VA_STATUS_ERROR_OPERATION_FAILED;
  for (int i = 0; i < count; ++i) {
    const auto buffer = driver.buffers.find(buffers[i]);
    if (!buffer) return VA_STATUS_ERROR_INVALID_BUFFER;
    if (buffer->type() == VAImageBufferType) return VA_STATUS_ERROR_UNSUPPORTED_BUFFERTYPE;
    context->picture_bytes += buffer->size_bytes();
    if (context->picture_bytes > kMaxPictureBytes ||
        context->picture.buffers.size() >= kMaxPictureBuffers)
      return VA_STATUS_ERROR_MAX_NUM_EXCEEDED;
    context->picture.buffers.push_back(buffer->copy());
  }
  return VA_STATUS_SUCCESS;
}

VAStatus end_picture(Driver& driver, VAContextID id) {
  const auto context = driver.contexts.find(id);
  if (!context) return VA_STATUS_ERROR_INVALID_CONTEXT;

  const std::lock_guard lock(context->mutex);
  if (!context->target) return VA_STATUS_ERROR_OPERATION_FAILED;
  const std::shared_ptr<Surface> target = std::exchange(context->target, nullptr);
  const Picture picture = std::exchange(context->picture, {});
  if (context->config.entrypoint == VAEntrypointVideoProc) {
    if (driver.fails(Call::Vpp, target->number())) return VA_STATUS_ERROR_OPERATION_FAILED;
    return process_picture(driver, picture, target);
  }
  driver.knobs.parameters.picture(context->config.profile, picture);

  // Decoded before this returns: an exported dma-buf handed to a GPU has no fence that a
  // software driver could attach, so the pixels must be there when the client goes on. Unless a
  // test wants a client that does not wait to be caught, or lends fences of vgem's; then the
  // picture before this one must have left the decoder's memory, which the second of two fields
  // is decoded into.
  if (driver.late) (void)target->wait(VA_TIMEOUT_INFINITE);
  auto rendering = std::make_shared<Surface::Rendering>(target);
  if (driver.fails(Call::EndPicture, target->number())) {
    rendering->set_failed(true);
    return VA_STATUS_ERROR_DECODING_ERROR;
  }
  return decode_into(driver, *context, picture, std::move(rendering));
}

}  // namespace dxva::softva
