// SPDX-License-Identifier: LGPL-2.1-or-later
// Memory objects on a real driver, on drivers that lie, and what no driver is given.

#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <vector>

#include "lib/base/fourcc.hpp"
#include "lib/dmabuf/opaque.hpp"
#include "lib/gl/memory_object_self_test.hpp"
#include "tests/check/support/check.hpp"
#include "tests/check/support/egl_rig.hpp"
#include "tests/check/support/vulkan_memory.hpp"

using namespace dxva;
using gl::MemoryObjectForm;
using test::Api;
using Geometry = gl::MemoryObjectSelfTest::Geometry;

namespace {

constexpr uint64_t kPitch = 64;
constexpr uint64_t kHeight = 48;

// A driver that does something else than it should, on top of the real one.
struct Driver {
  gl::MemoryObjectApi real;
  std::function<void(uint64_t size)> buffer_storage;  // instead of memory's
  std::function<void(GLenum format, GLsizei width, GLsizei height)> texture_storage;
  std::function<GLenum()> handle_type;
  int imports = 0;
  std::vector<const char*> deleted;
};
Driver driver;

const uint8_t* memory_bytes = nullptr;  // of the newest test memory

gl::MemoryObjectApi scripted(const gl::MemoryObjectApi& real) {
  driver = {.real = real};
  gl::MemoryObjectApi api = real;
  api.ImportMemoryFd = [](GLuint memory, GLuint64 size, GLenum type, GLint fd) {
    ++driver.imports;
    driver.real.ImportMemoryFd(memory, size, driver.handle_type ? driver.handle_type() : type,
                               fd);
  };
  api.BufferStorageMem = [](GLenum target, GLsizeiptr size, GLuint memory, GLuint64 offset) {
    if (driver.buffer_storage)
      driver.buffer_storage(static_cast<uint64_t>(size));
    else
      driver.real.BufferStorageMem(target, size, memory, offset);
  };
  api.TexStorageMem2D = [](GLenum target, GLsizei levels, GLenum format, GLsizei width,
                           GLsizei height, GLuint memory, GLuint64 offset) {
    if (driver.texture_storage)
      driver.texture_storage(format, width, height);
    else
      driver.real.TexStorageMem2D(target, levels, format, width, height, memory, offset);
  };
  api.DeleteMemoryObjects = [](GLsizei count, const GLuint* names) {
    driver.deleted.push_back("memory");
    driver.real.DeleteMemoryObjects(count, names);
  };
  api.DeleteBuffers = [](GLsizei count, const GLuint* names) {
    driver.deleted.push_back("buffer");
    driver.real.DeleteBuffers(count, names);
  };
  return api;
}

// The driver of this machine with a script in between, and memory that it should import. On
// the rigs of ./dev all of it must be there.
struct Rig {
  explicit Rig(Api api = Api::Gl) {
    const auto opened = open(api);
    if (opened) return;
    missing = opened.error().describe();
    const char* rig = getenv("DXVA_RIG");
    fail_if(rig && *rig && std::strcmp(rig, "gpu") != 0, "this rig must have it: %s",
            missing.c_str());
  }
  Status open(Api api) {
    auto made = test::EglRig::create(api);
    if (!made) return made.error();
    egl = std::move(*made);
    const auto real = gl::load_memory_object(*egl->gl(), test::EglRig::functions());
    if (!real) return real.error();
    auto opened = vulkan::MemoryExporter::open(real->uuids);
    if (!opened) return opened.error();
    exporter = *opened;
    importer =
        std::make_unique<gl::MemoryObjectImporter>(egl->thread(), egl->gl(), scripted(*real));
    pass = std::make_unique<gl::MemoryObjectPass>(egl->thread(), egl->gl());
    self_test = std::make_unique<gl::MemoryObjectSelfTest>(
        egl->thread(), egl->gl(), *importer,
        [inner = test::memory_from(exporter)](uint64_t size) {
          auto memory = inner(size);
          if (memory) memory_bytes = memory->data;
          return memory;
        });
    return Done{};
  }

  [[nodiscard]] Status verdict(MemoryObjectForm form, uint32_t fourcc = format::kNV12,
                               uint64_t pitch = 256) {
    return self_test->verdict(fourcc, form, pitch, *pass);
  }
  // A picture of 64x48 in memory of its own.
  struct Picture {
    gl::TestMemory memory;
    gl::OpaqueRequest request;
  };
  [[nodiscard]] Picture picture() {
    auto memory = test::memory_from(exporter)(kPitch * kHeight * 3 / 2 + 4096);
    fail_unless(bool(memory));
    Picture out{.memory = std::move(*memory),
                .request = {.image = {.fourcc = format::kNV12,
                                      .width = 64,
                                      .height = kHeight,
                                      .object_count = 1,
                                      .plane_count = 2},
                            .uuids = exporter->uuids()}};
    out.request.image.objects[0].size_bytes = out.memory.size_bytes;
    out.request.image.planes[0].pitch_bytes = kPitch;
    out.request.image.planes[1] = {.offset = kPitch * kHeight, .pitch_bytes = kPitch};
    out.request.fds[0] = out.memory.fd.get();
    return out;
  }

  std::string missing;
  std::unique_ptr<test::EglRig> egl;
  std::shared_ptr<vulkan::MemoryExporter> exporter;
  std::unique_ptr<gl::MemoryObjectImporter> importer;
  std::unique_ptr<gl::MemoryObjectPass> pass;
  std::unique_ptr<gl::MemoryObjectSelfTest> self_test;
};

#define NEEDS(rig) \
  if (!(rig).missing.empty()) DXVA_SKIP("%s", (rig).missing.c_str())

template <typename Function>
Function gl_function(const char* name) {
  return reinterpret_cast<Function>(test::EglRig::functions().get(nullptr, name));
}

// A buffer of the driver's own with these bytes in place of the imported memory.
void own_buffer(const std::vector<uint8_t>& bytes) {
  gl_function<PFNGLBUFFERSTORAGEPROC>("glBufferStorage")(
      GL_TEXTURE_BUFFER, static_cast<GLsizeiptr>(bytes.size()), bytes.data(), 0);
}
std::vector<uint8_t> memory_now(uint64_t size) {
  return {memory_bytes, memory_bytes + size};
}

void expect_caught(Rig& rig, const char* sentence) {
  const auto verdict = rig.verdict(MemoryObjectForm::Buffer);
  fail_unless(!verdict, "the self-test saw nothing");
  fail_unless(verdict.error().reason == Reason::SelfTestMismatch, "%s",
              verdict.error().describe().c_str());
  fail_unless(verdict.error().text.find(sentence) != std::string::npos, "%s, not: %s", sentence,
              verdict.error().text.c_str());
}

size_t open_descriptors() {
  const std::filesystem::directory_iterator folder("/proc/self/fd");
  return static_cast<size_t>(std::distance(begin(folder), end(folder)));
}

}  // namespace

// --- the driver of this machine

GST_START_TEST(buffers_show_every_byte_in_both_depths_and_apis) {
  for (const Api api : {Api::Gl, Api::Gles}) {
    Rig rig(api);
    NEEDS(rig);
    for (const uint32_t fourcc : {format::kNV12, format::kP010}) {
      const auto verdict = rig.verdict(MemoryObjectForm::Buffer, fourcc);
      fail_unless(bool(verdict), "%s", verdict ? "" : verdict.error().describe().c_str());
    }
  }
}
GST_END_TEST;

// llvmpipe's textures have rows of whole lines of 64 bytes, whatever memory has: a real driver
// that shows wrong pictures without an error.
GST_START_TEST(textures_are_trusted_for_the_pitches_that_the_driver_means) {
  Rig rig;
  NEEDS(rig);
  if (!rig.egl->gl()->facts.software) DXVA_SKIP("not a rasteriser of Mesa's");
  // Room for the longer rows, or Mesa 25 says that there is none.
  gl::MemoryObjectSelfTest roomy(
      rig.egl->thread(), rig.egl->gl(), *rig.importer,
      [inner = test::memory_from(rig.exporter)](uint64_t size) { return inner(size * 2); });
  for (const uint32_t fourcc : {format::kNV12, format::kP010}) {
    for (const uint64_t pitch : {64, 256, 1920}) {
      const auto verdict = rig.verdict(MemoryObjectForm::Texture, fourcc, pitch);
      fail_unless(bool(verdict), "%s", verdict ? "" : verdict.error().describe().c_str());
    }
    const auto other = roomy.verdict(fourcc, MemoryObjectForm::Texture, 100, *rig.pass);
    fail_unless(!other && other.error().reason == Reason::SelfTestMismatch, "%s",
                other ? "trusted" : other.error().describe().c_str());
  }
}
GST_END_TEST;

// --- drivers that lie

GST_START_TEST(a_driver_that_shows_black_is_caught) {
  Rig rig;
  NEEDS(rig);
  driver.buffer_storage = [](uint64_t size) { own_buffer(std::vector<uint8_t>(size)); };
  expect_caught(rig, "odd size: ");
}
GST_END_TEST;

// Not by the self-test, which has memory of its own: NVIDIA's showed some and not others.
GST_START_TEST(other_memory_than_the_descriptors_is_refused_where_its_maker_signed_it) {
  constexpr uint64_t kNumber = dmabuf::kFirstSignedNumber + 7;
  for (const Api api : {Api::Gl, Api::Gles}) {
    Rig rig(api);
    NEEDS(rig);
    Rig::Picture picture = rig.picture();
    BufferIdentity& identity = picture.request.image.objects[0].identity;
    identity = dmabuf::opaque_identity(kNumber);
    const auto unsigned_yet = rig.importer->import(picture.request, MemoryObjectForm::Buffer);
    fail_unless(!unsigned_yet && unsigned_yet.error().reason == Reason::SelfTestMismatch, "%s",
                unsigned_yet ? "imported" : unsigned_yet.error().describe().c_str());
    std::memcpy(picture.memory.data + picture.memory.size_bytes - dmabuf::kSignatureFromEnd,
                &kNumber, sizeof kNumber);
    fail_unless(bool(rig.importer->import(picture.request, MemoryObjectForm::Buffer)));
    identity = dmabuf::opaque_identity(7);  // of a maker that signs nothing
    fail_unless(bool(rig.importer->import(picture.request, MemoryObjectForm::Buffer)));
  }
}
GST_END_TEST;

GST_START_TEST(a_driver_that_keeps_the_first_content_is_caught) {
  Rig rig;
  NEEDS(rig);
  driver.buffer_storage = [](uint64_t size) { own_buffer(memory_now(size)); };
  expect_caught(rig, "odd size, rewritten: ");
}
GST_END_TEST;

GST_START_TEST(a_driver_that_ignores_offsets_is_caught) {
  Rig rig;
  NEEDS(rig);
  driver.buffer_storage = [](uint64_t size) {
    // Chroma of the first geometry, 134 bytes times 47 rows in.
    std::vector<uint8_t> bytes = memory_now(size);
    constexpr uint64_t kChroma = uint64_t{134} * 47;
    std::copy_n(memory_bytes, size - kChroma, bytes.begin() + kChroma);
    own_buffer(bytes);
  };
  expect_caught(rig, "chroma row 0 byte 0");
}
GST_END_TEST;

GST_START_TEST(a_driver_with_a_pitch_of_its_own_is_caught) {
  Rig rig;
  NEEDS(rig);
  driver.buffer_storage = [](uint64_t size) {
    // It reads rows of whole lines of 64 bytes where the memory's have 134.
    std::vector<uint8_t> bytes(size);
    constexpr uint64_t kOwn = 192, kTrue = 134;
    for (uint64_t row = 0; row * kOwn + kTrue <= size && (row + 1) * kTrue <= size; ++row)
      std::copy_n(memory_bytes + row * kOwn, kTrue,
                  bytes.begin() + static_cast<long>(row * kTrue));
    own_buffer(bytes);
  };
  expect_caught(rig, "odd size: ");
}
GST_END_TEST;

GST_START_TEST(a_driver_that_stops_after_two_mebibytes_is_caught) {
  Rig rig;
  NEEDS(rig);
  driver.buffer_storage = [](uint64_t size) {
    // The real thing for the small pictures.
    std::vector<uint8_t> bytes = memory_now(size);
    constexpr uint64_t kShown = 2 << 20;
    if (size > kShown) std::fill(bytes.begin() + kShown, bytes.end(), uint8_t{0});
    own_buffer(bytes);
  };
  // Alone, because the small ones of such a driver also keep their first content.
  const Geometry large{"above 2 MiB", 2000, 600, 4096, 600, 0};
  const auto tried =
      rig.self_test->try_geometry(large, format::kNV12, MemoryObjectForm::Buffer, *rig.pass);
  fail_unless(!tried && tried.error().reason == Reason::SelfTestMismatch);
  fail_unless(tried.error().text.find("luma row 512 byte 0") != std::string::npos, "%s",
              tried.error().text.c_str());
}
GST_END_TEST;

GST_START_TEST(a_texture_of_another_tiling_is_caught) {
  Rig rig;
  NEEDS(rig);
  driver.texture_storage = [](GLenum format, GLsizei width, GLsizei height) {
    // Bytes of the memory, in tiles of 16x4.
    std::vector<uint8_t> tiled(static_cast<size_t>(width) * static_cast<size_t>(height));
    for (size_t i = 0; i < tiled.size(); ++i)
      tiled[i] = memory_bytes[(i & ~size_t{63}) | (i & 3) << 4 | (i & 63) >> 2];
    gl_function<PFNGLTEXSTORAGE2DPROC>("glTexStorage2D")(GL_TEXTURE_2D, 1, format, width,
                                                         height);
    gl_function<decltype(&::glTexSubImage2D)>("glTexSubImage2D")(
        GL_TEXTURE_2D, 0, 0, 0, width, height, GL_RED, GL_UNSIGNED_BYTE, tiled.data());
  };
  const auto verdict = rig.verdict(MemoryObjectForm::Texture);
  fail_unless(!verdict && verdict.error().reason == Reason::SelfTestMismatch);
}
GST_END_TEST;

GST_START_TEST(a_verdict_is_asked_for_once) {
  Rig rig;
  NEEDS(rig);
  fail_unless(bool(rig.verdict(MemoryObjectForm::Buffer)));
  const int imports = driver.imports;
  fail_unless(imports > 0 && bool(rig.verdict(MemoryObjectForm::Buffer)));
  fail_unless_equals_int(driver.imports, imports);
}
GST_END_TEST;

GST_START_TEST(without_memory_to_test_with_there_is_no_trust) {
  Rig rig;
  NEEDS(rig);
  gl::MemoryObjectSelfTest poor(
      rig.egl->thread(), rig.egl->gl(), *rig.importer,
      [](uint64_t) -> Result<gl::TestMemory> { return Error{.code = ErrorCode::NoMemory}; });
  const auto verdict = poor.verdict(format::kNV12, MemoryObjectForm::Buffer, 64, *rig.pass);
  fail_unless(!verdict && verdict.error().reason == Reason::MemoryObjectUnsupported);
}
GST_END_TEST;

// --- what no driver is given

GST_START_TEST(hostile_descriptors_never_reach_the_driver) {
  Rig rig;
  NEEDS(rig);
  int pipe_ends[2], sockets[2];
  fail_unless(pipe2(pipe_ends, O_CLOEXEC) == 0 &&
              socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) == 0);
  const auto memfd = [](uint64_t size, bool sealed, std::vector<uint64_t> header = {}) {
    UniqueFd fd{memfd_create("memory", MFD_CLOEXEC | MFD_ALLOW_SEALING)};
    fail_unless(fd.valid() && ftruncate(fd.get(), static_cast<off_t>(size)) == 0);
    if (!header.empty()) fail_unless(pwrite(fd.get(), header.data(), header.size() * 8, 0) > 0);
    if (sealed) fail_unless(fcntl(fd.get(), F_ADD_SEALS, F_SEAL_SHRINK) == 0);
    return fd;
  };
  char path[] = "/tmp/dxva-memory-XXXXXX";
  const UniqueFd file{mkstemp(path)};
  unlink(path);
  fail_unless(ftruncate(file.get(), 1 << 20) == 0);
  auto good = rig.picture();
  const uint64_t bytes = good.memory.size_bytes;
  const UniqueFd event{eventfd(1, EFD_CLOEXEC)}, null{open("/dev/null", O_RDWR | O_CLOEXEC)},
      folder{open("/", O_RDONLY | O_CLOEXEC)},
      empty = memfd(0, true), plain = memfd(1 << 20, true),
      unsealed = memfd(1 << 20, false, {1 << 20, 4096}),
      short_file = memfd(8192, true, {1 << 20, 4096}),
      too_little = memfd(1 << 20, true, {4096 + bytes - 1, 4096}),
      bad_offset = memfd(1 << 20, true, {1 << 20, 2 << 20}),
      no_header = memfd(1 << 20, true, {1 << 20, 0});
  struct Case {
    const char* name;
    int fd;
    Reason reason;
  };
  const Case cases[] = {
      {"pipe to read", pipe_ends[0], Reason::NotOpaqueMemory},
      {"pipe to write", pipe_ends[1], Reason::NotOpaqueMemory},
      {"socket", sockets[0], Reason::NotOpaqueMemory},
      {"eventfd", event.get(), Reason::NotOpaqueMemory},
      {"/dev/null", null.get(), Reason::NotOpaqueMemory},
      {"folder", folder.get(), Reason::NotOpaqueMemory},
      {"file", file.get(), Reason::NotOpaqueMemory},
      {"empty memfd", empty.get(), Reason::ObjectTooSmall},
      {"zeros", plain.get(), Reason::NotOpaqueMemory},
      {"can shrink", unsealed.get(), Reason::NotOpaqueMemory},
      {"header beyond the file", short_file.get(), Reason::NotOpaqueMemory},
      {"less than was said", too_little.get(), Reason::ObjectTooSmall},
      {"data behind the end", bad_offset.get(), Reason::NotOpaqueMemory},
      {"data in the header", no_header.get(), Reason::NotOpaqueMemory},
      {"closed", 9999, Reason::BadDescriptor},
      {"none", -1, Reason::BadDescriptor},
  };
  for (const Case& bad : cases) {
    auto hostile = good.request;
    hostile.fds[0] = bad.fd;
    for (const auto form : {MemoryObjectForm::Buffer, MemoryObjectForm::Texture}) {
      const auto imported = rig.importer->import(hostile, form);
      fail_unless(!imported, "%s was imported", bad.name);
      // /tmp may be a tmpfs; then a file there has no seals.
      fail_unless(imported.error().reason == bad.reason, "%s: %s", bad.name,
                  imported.error().describe().c_str());
    }
  }
  fail_unless_equals_int(driver.imports, 0);
  for (const int fd : {pipe_ends[0], pipe_ends[1], sockets[0], sockets[1]}) close(fd);
}
GST_END_TEST;

GST_START_TEST(numbers_that_do_not_fit_never_reach_the_driver) {
  Rig rig;
  NEEDS(rig);
  using enum Reason;
  struct Case {
    const char* name;
    MemoryObjectForm form;
    std::function<void(gl::OpaqueRequest&)> spoil;
    Reason reason;
  };
  constexpr auto kBuffer = MemoryObjectForm::Buffer;
  constexpr auto kTexture = MemoryObjectForm::Texture;
  const Case cases[] = {
      {"another device", kBuffer, [](auto& r) { r.uuids.device[0] ^= 1; }, UuidMismatch},
      {"another driver", kBuffer, [](auto& r) { r.uuids.driver[15] ^= 1; }, UuidMismatch},
      {"a tiling", kBuffer, [](auto& r) { r.image.objects[0].modifier = 42; },
       ModifierNotLinear},
      {"no modifier", kBuffer, [](auto& r) { r.image.objects[0].modifier = kModifierInvalid; },
       ModifierNotLinear},
      {"no room behind", kBuffer,
       [](auto& r) { r.image.objects[0].size_bytes = kPitch * kHeight * 3 / 2; },
       ObjectTooSmall},
      {"no room for whole blocks of rows", kTexture,
       [](auto& r) {
         r.image.height = 46;  // 69 rows, 72 in the texture
         r.image.planes[1].offset = kPitch * 46;
         r.image.objects[0].size_bytes = kPitch * 70;
       },
       ObjectTooSmall},
      {"chroma behind the end", kBuffer,
       [](auto& r) { r.image.planes[1].offset = uint64_t{1} << 30; }, OffsetOutOfRange},
      {"half a sample, offset", kBuffer,
       [](auto& r) {
         r.image.fourcc = format::kP010;
         r.image.width = 32;
         r.image.planes[1].offset += 1;
       },
       OffsetOutOfRange},
      {"half a sample, pitch", kBuffer,
       [](auto& r) {
         r.image.fourcc = format::kP010;
         r.image.width = 30;
         r.image.planes[0].pitch_bytes = 63;
       },
       PitchOutOfRange},
      {"a gap, as a texture", kTexture, [](auto& r) { r.image.planes[1].offset += kPitch; },
       ChromaNotAdjacent},
      {"luma at an offset, as a texture", kTexture,
       [](auto& r) {
         r.image.planes[0].offset = kPitch;
         r.image.planes[1].offset += kPitch;
       },
       ChromaNotAdjacent},
  };
  for (const Case& bad : cases) {
    auto good = rig.picture();
    bad.spoil(good.request);
    const auto imported = rig.importer->import(good.request, bad.form);
    fail_unless(!imported, "%s was imported", bad.name);
    fail_unless(imported.error().reason == bad.reason, "%s: %s", bad.name,
                imported.error().describe().c_str());
  }
  fail_unless_equals_int(driver.imports, 0);
}
GST_END_TEST;

// A driver that takes dma-bufs for opaque memory, as Mesa's for AMD and Intel do; a memfd
// stands for one.
GST_START_TEST(dma_bufs_go_only_to_drivers_that_take_them) {
  Rig rig;
  NEEDS(rig);
  auto picture = rig.picture();
  picture.request.kind = gl::OpaqueRequest::Kind::Dmabuf;
  const UniqueFd memfd{memfd_create("frame", MFD_CLOEXEC | MFD_ALLOW_SEALING)};
  const uint64_t size = picture.request.image.objects[0].size_bytes;
  fail_unless(ftruncate(memfd.get(), static_cast<off_t>(size)) == 0 &&
              fcntl(memfd.get(), F_ADD_SEALS, F_SEAL_SHRINK) == 0);
  picture.request.fds[0] = memfd.get();
  const auto here = rig.importer->import(picture.request, MemoryObjectForm::Buffer);
  fail_unless(!here && here.error().reason == Reason::MemoryObjectUnsupported);

  auto facts = std::make_shared<gl::GlApi>(*rig.egl->gl());
  facts->facts.vendor = "AMD";
  gl::MemoryObjectApi api = rig.importer->api();
  // What such a driver shows: the file's bytes from its first.
  driver.buffer_storage = [](uint64_t bytes) { own_buffer(std::vector<uint8_t>(bytes, 7)); };
  api.ImportMemoryFd = [](GLuint, GLuint64, GLenum, GLint fd) {
    ++driver.imports;
    close(fd);
  };
  const gl::MemoryObjectImporter other(rig.egl->thread(), facts, api);
  fail_unless(other.takes_dmabufs() && !rig.importer->takes_dmabufs());
  fail_unless(bool(other.import(picture.request, MemoryObjectForm::Buffer)));
  fail_unless_equals_int(driver.imports, 1);
  // It must be what it is said to be there too.
  picture.request.fds[0] = picture.memory.fd.get();
  picture.request.image.objects[0].size_bytes = size * 2;
  fail_unless(!other.import(picture.request, MemoryObjectForm::Buffer));
  fail_unless_equals_int(driver.imports, 1);
}
GST_END_TEST;

// --- ownership

GST_START_TEST(a_thousand_imports_leave_no_descriptor) {
  Rig rig;
  NEEDS(rig);
  auto good = rig.picture();
  auto refused = good.request;
  refused.uuids = {};
  // Whatever the driver keeps for itself is there after the first.
  fail_unless(bool(rig.importer->import(good.request, MemoryObjectForm::Buffer)));
  const size_t before = open_descriptors();
  for (int i = 0; i < 250; ++i) {
    for (const auto form : {MemoryObjectForm::Buffer, MemoryObjectForm::Texture})
      fail_unless(bool(rig.importer->import(good.request, form)) ||
                  form == MemoryObjectForm::Texture);
    fail_unless(!rig.importer->import(refused, MemoryObjectForm::Buffer));
    // The driver's own refusal, of the import (then the descriptor stays ours) …
    driver.handle_type = [] { return GLenum{GL_RGBA}; };
    fail_unless(!rig.importer->import(good.request, MemoryObjectForm::Buffer));
    driver.handle_type = {};
    // … and of what shall be made of it (then it is the driver's).
    driver.buffer_storage = [](uint64_t) { own_buffer({}); };
    fail_unless(!rig.importer->import(good.request, MemoryObjectForm::Buffer));
    driver.buffer_storage = {};
  }
  fail_unless_equals_int(open_descriptors(), before);
}
GST_END_TEST;

GST_START_TEST(what_lives_in_memory_is_deleted_before_it) {
  Rig rig;
  NEEDS(rig);
  auto good = rig.picture();
  auto imported = rig.importer->import(good.request, MemoryObjectForm::Buffer);
  fail_unless(bool(imported));
  driver.deleted.clear();
  imported->reset();
  fail_unless(driver.deleted == std::vector<const char*>({"buffer", "memory"}));
}
GST_END_TEST;

GST_START_TEST(the_producer_may_go_before_the_import) {
  Rig rig;
  NEEDS(rig);
  auto good = rig.picture();
  std::vector<uint8_t> bytes(kPitch * kHeight * 3 / 2);
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<uint8_t>(i * 7 + i / 64);
  std::memcpy(good.memory.data, bytes.data(), bytes.size());
  const auto imported = rig.importer->import(good.request, MemoryObjectForm::Buffer);
  fail_unless(bool(imported));
  good.memory = {};
  for (uint32_t plane = 0; plane < 2; ++plane) {
    const auto compared = gl::compare_with_memory(
        rig.egl->thread(), rig.egl->gl(), rig.importer->api(), *rig.pass, **imported, plane,
        bytes.data() + good.request.image.planes[plane].offset, kPitch);
    fail_unless(compared && compared->compared > 0 && compared->wrong == 0);
  }
}
GST_END_TEST;

Suite* memory_object_suite() {
  Suite* suite = suite_create("memory_object");
  TCase* tests = tcase_create("general");
  tcase_set_timeout(tests, 60);
  suite_add_tcase(suite, tests);
  tcase_add_test(tests, buffers_show_every_byte_in_both_depths_and_apis);
  tcase_add_test(tests, textures_are_trusted_for_the_pitches_that_the_driver_means);
  tcase_add_test(tests, a_driver_that_shows_black_is_caught);
  tcase_add_test(tests, other_memory_than_the_descriptors_is_refused_where_its_maker_signed_it);
  tcase_add_test(tests, a_driver_that_keeps_the_first_content_is_caught);
  tcase_add_test(tests, a_driver_that_ignores_offsets_is_caught);
  tcase_add_test(tests, a_driver_with_a_pitch_of_its_own_is_caught);
  tcase_add_test(tests, a_driver_that_stops_after_two_mebibytes_is_caught);
  tcase_add_test(tests, a_texture_of_another_tiling_is_caught);
  tcase_add_test(tests, a_verdict_is_asked_for_once);
  tcase_add_test(tests, without_memory_to_test_with_there_is_no_trust);
  tcase_add_test(tests, hostile_descriptors_never_reach_the_driver);
  tcase_add_test(tests, numbers_that_do_not_fit_never_reach_the_driver);
  tcase_add_test(tests, dma_bufs_go_only_to_drivers_that_take_them);
  tcase_add_test(tests, a_thousand_imports_leave_no_descriptor);
  tcase_add_test(tests, what_lives_in_memory_is_deleted_before_it);
  tcase_add_test(tests, the_producer_may_go_before_the_import);
  return suite;
}

int main(int argc, char** argv) {
  setenv("GST_DXVA_TEST", "memfd", 1);
  gst_check_init(&argc, &argv);
  return gst_check_run_suite(memory_object_suite(), "memory_object", __FILE__);
}
