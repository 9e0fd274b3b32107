// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/gl/whole_image.hpp"

#include <array>
#include <optional>
#include <string>

#include "lib/base/fourcc.hpp"
#include "lib/base/log.hpp"
#include "lib/gl/egl_image.hpp"

namespace dxva::gl {
namespace {

struct PlaneNames {
  EGLint fd, offset, pitch, modifier_low, modifier_high;
};
constexpr std::array<PlaneNames, 2> kPlaneNames = {{
    {EGL_DMA_BUF_PLANE0_FD_EXT, EGL_DMA_BUF_PLANE0_OFFSET_EXT, EGL_DMA_BUF_PLANE0_PITCH_EXT,
     EGL_DMA_BUF_PLANE0_MODIFIER_LO_EXT, EGL_DMA_BUF_PLANE0_MODIFIER_HI_EXT},
    {EGL_DMA_BUF_PLANE1_FD_EXT, EGL_DMA_BUF_PLANE1_OFFSET_EXT, EGL_DMA_BUF_PLANE1_PITCH_EXT,
     EGL_DMA_BUF_PLANE1_MODIFIER_LO_EXT, EGL_DMA_BUF_PLANE1_MODIFIER_HI_EXT},
}};

// EGL knows three; with another the driver would take BT.601 without a word.
std::optional<EGLint> space_of(video::Matrix matrix) {
  switch (matrix) {
    case video::Matrix::Bt601:
      return EGL_ITU_REC601_EXT;
    case video::Matrix::Bt709:
      return EGL_ITU_REC709_EXT;
    case video::Matrix::Bt2020:
      return EGL_ITU_REC2020_EXT;
    default:
      return std::nullopt;
  }
}

void add_siting(ImageAttributes& attributes, EGLint name, video::ChromaSiting::Place place) {
  if (place == video::ChromaSiting::Place::Unknown) return;
  attributes.add(name, place == video::ChromaSiting::Place::Cosited
                           ? EGL_YUV_CHROMA_SITING_0_EXT
                           : EGL_YUV_CHROMA_SITING_0_5_EXT);
}

Status check_numbers(const video::ImageDescription& image, const GlApi& gl) {
  const auto limit = static_cast<uint32_t>(std::max(0, gl.facts.max_texture_size));
  if (image.width > limit || image.height > limit)
    return refusal(Reason::TextureTooLarge, "GL_MAX_TEXTURE_SIZE is " + std::to_string(limit));
  return Done{};
}

constexpr const char* kSampler2D = R"(
uniform sampler2D image;
)";
constexpr const char* kSamplerExternal = R"(
uniform samplerExternalOES image;
)";
// Both have texture() and only the first has texelFetch(): the middle of each texel,
// unfiltered.
constexpr const char* kFragmentShader = R"(
uniform vec4 size;
out vec4 colour;
void main() {
  colour = vec4(texture(image, gl_FragCoord.xy / size.xy).rgb, 1.0);
}
)";

}  // namespace

ImportFormats::Sampling WholeImageImporter::sampling(uint32_t fourcc, uint64_t modifier) const {
  using enum ImportFormats::Sampling;
  if (!formats_.known() || modifier == kModifierInvalid) return None;
  const auto listed = formats_.sampling(fourcc, modifier);
  if (listed == External && !egl_.samples_external) return None;
  return listed;
}

Result<WholeImage> WholeImageImporter::import(const ImportRequest& request,
                                              const video::Colorimetry& colours,
                                              const video::ChromaSiting& siting) const {
  ImportRequest checked = request;
  const Result<video::Layout> layout = prove(gl_->facts, checked);
  if (!layout) return layout.error();
  const video::ImageDescription& image = checked.image;
  if (auto fits = check_numbers(image, *gl_); !fits) return fits.error();
  const auto how = sampling(image.fourcc, layout->modifier);
  if (how == ImportFormats::Sampling::None)
    return refusal(
        Reason::ModifierNotImportable,
        fourcc_text(image.fourcc) + " with modifier " + modifier_text(layout->modifier));
  const std::optional<EGLint> space = space_of(colours.matrix);
  if (!space) return refusal(Reason::FormatUnsupported, "EGL has no name for the matrix");

  ImageAttributes attributes;
  attributes.add(EGL_WIDTH, image.width);
  attributes.add(EGL_HEIGHT, image.height);
  attributes.add(EGL_LINUX_DRM_FOURCC_EXT, image.fourcc);
  for (uint32_t p = 0; p < kPlaneNames.size(); ++p) {
    const PlaneNames& names = kPlaneNames[p];
    const video::PlaneDescription& plane = image.planes[p];
    attributes.add(names.fd, static_cast<uint32_t>(checked.fds[plane.object]));
    attributes.add(names.offset, plane.offset);
    attributes.add(names.pitch, plane.pitch_bytes);
    attributes.add(names.modifier_low, layout->modifier & 0xffffffffu);
    attributes.add(names.modifier_high, layout->modifier >> 32);
  }
  attributes.add(EGL_YUV_COLOR_SPACE_HINT_EXT, static_cast<uint64_t>(*space));
  attributes.add(EGL_SAMPLE_RANGE_HINT_EXT, colours.range == video::Range::Full
                                                ? EGL_YUV_FULL_RANGE_EXT
                                                : EGL_YUV_NARROW_RANGE_EXT);
  add_siting(attributes, EGL_YUV_CHROMA_HORIZONTAL_SITING_HINT_EXT, siting.horizontal);
  add_siting(attributes, EGL_YUV_CHROMA_VERTICAL_SITING_HINT_EXT, siting.vertical);

  const Result<EglImage> egl_image = EglImage::create(egl_, attributes);
  if (!egl_image) return egl_image.error();
  WholeImage out{
      .texture = TextureSet::create(thread_, gl_, 1),
      .target = how == ImportFormats::Sampling::External ? kTextureExternal : GL_TEXTURE_2D};
  if (auto bound = egl_image->bind(*gl_, out.target, out.texture->names()[0], GL_NEAREST);
      !bound)
    return bound.error();
  DXVA_DEBUG(Gl, "imported %s %ux%u whole, modifier %s", fourcc_text(image.fourcc).c_str(),
             image.width, image.height, modifier_text(layout->modifier).c_str());
  return out;
}

Result<std::unique_ptr<WholeImagePass>> WholeImagePass::create(std::shared_ptr<GlThread> thread,
                                                               std::shared_ptr<const GlApi> gl,
                                                               GLenum target) {
  const bool external = target == kTextureExternal;
  ShaderPass::Source source{
      .fragment = std::string(external ? kSamplerExternal : kSampler2D) + kFragmentShader,
      .samplers = {"image"}};
  if (external)
    source.extensions =
        std::string("#extension ") +
        (gl->facts.gles ? "GL_OES_EGL_image_external_essl3" : "GL_OES_EGL_image_external") +
        " : require\n";
  auto shader = ShaderPass::create(std::move(thread), gl, source);
  if (!shader) return shader.error();
  return std::unique_ptr<WholeImagePass>(new WholeImagePass(std::move(gl), std::move(*shader)));
}

Status WholeImagePass::draw(const WholeImage& image, const ShaderPass::Target& target) const {
  const std::array inputs = {
      ShaderPass::Input{.target = image.target, .texture = image.texture->names()[0]}};
  const std::array<float, 4> size = {static_cast<float>(target.width),
                                     static_cast<float>(target.height), 0.0f, 0.0f};
  return shader_->draw(target, inputs,
                       [&] { gl_->shaders->Uniform4fv(size_uniform_, 1, size.data()); });
}

}  // namespace dxva::gl
