// SPDX-License-Identifier: LGPL-2.1-or-later

// Making, sharing and dropping objects by the thousand, in one thread and in many. Leaks of
// memory show in the suite "sanitize", races in a build with ThreadSanitizer.

#include <array>
#include <atomic>
#include <iterator>
#include <random>
#include <set>
#include <thread>
#include <vector>

#include "tests/check/softva/client.hpp"
#include "tests/check/support/check.hpp"

using namespace dxva::softva::test;

namespace {

constexpr int kRounds = 1000;
constexpr int kThreads = 4;

// One of everything, used once.
void one_round(const Client& client, uint32_t seed) {
  const VADisplay display = client.display();
  VASurfaceID surface = client.surface(33, 31);
  const VAContextID context = client.context(33, 31);
  const FakeOrder order{.width = 33, .height = 31, .seed = seed};
  fail_unless_equals_int(client.decode(context, surface, order), VA_STATUS_SUCCESS);
  {
    const Export exported(client, surface);
    fail_unless(shows(exported, order, VA_FOURCC_NV12, 33, 31));
  }
  VAImage derived{};
  fail_unless_equals_int(vaDeriveImage(display, surface, &derived), VA_STATUS_SUCCESS);
  { const MappedImage mapped(client, derived); }
  fail_unless_equals_int(vaDestroyImage(display, derived.image_id), VA_STATUS_SUCCESS);
  const VAImage copy = client.image(VA_FOURCC_I420, 33, 31);
  fail_unless_equals_int(vaGetImage(display, surface, 0, 0, 33, 31, copy.image_id),
                         VA_STATUS_SUCCESS);
  fail_unless_equals_int(vaDestroyImage(display, copy.image_id), VA_STATUS_SUCCESS);
  fail_unless_equals_int(vaDestroyContext(display, context), VA_STATUS_SUCCESS);
  fail_unless_equals_int(vaDestroySurfaces(display, &surface, 1), VA_STATUS_SUCCESS);
}

GST_START_TEST(thousand_rounds_leave_no_descriptor_open) {
  Client client;
  one_round(client, 0);
  const size_t before = open_descriptors();
  for (uint32_t round = 0; round < kRounds; ++round) one_round(client, round);
  fail_unless_equals_int(open_descriptors(), before);
}
GST_END_TEST;

GST_START_TEST(ids_do_not_come_again_soon) {
  Client client;
  std::set<VASurfaceID> seen;
  for (int round = 0; round < kRounds; ++round) {
    VASurfaceID surface = client.surface(16, 16);
    fail_unless(seen.insert(surface).second);
    fail_unless_equals_int(vaDestroySurfaces(client.display(), &surface, 1), VA_STATUS_SUCCESS);
  }
}
GST_END_TEST;

GST_START_TEST(many_surfaces_at_once_are_all_or_none) {
  Client client;
  const size_t before = open_descriptors();
  std::vector<VASurfaceID> ids(200, VA_INVALID_SURFACE);
  fail_unless_equals_int(vaCreateSurfaces(client.display(), VA_RT_FORMAT_YUV420, 16, 16,
                                          ids.data(), 200, nullptr, 0),
                         VA_STATUS_SUCCESS);
  // A bad id among them is told, and does not keep the others.
  ids[100] = VA_INVALID_SURFACE;
  fail_unless_equals_int(vaDestroySurfaces(client.display(), ids.data(), 200),
                         VA_STATUS_ERROR_INVALID_SURFACE);
  fail_unless_equals_int(open_descriptors(), before + 1);
}
GST_END_TEST;

GST_START_TEST(terminate_with_everything_alive_frees_it) {
  { const Client warm_up; }
  const size_t before = open_descriptors();
  for (int round = 0; round < 20; ++round) {
    Client client;
    const VADisplay display = client.display();
    for (int i = 0; i < 5; ++i) {
      const VASurfaceID surface = client.surface(64, 48);
      const VAContextID context = client.context(64, 48);
      fail_unless_equals_int(client.decode(context, surface, {}), VA_STATUS_SUCCESS);
      VAImage image{};
      fail_unless_equals_int(vaDeriveImage(display, surface, &image), VA_STATUS_SUCCESS);
      void* data = nullptr;
      fail_unless_equals_int(vaMapBuffer(display, image.buf, &data), VA_STATUS_SUCCESS);
      VABufferID buffer = VA_INVALID_ID;
      fail_unless_equals_int(
          vaCreateBuffer(display, context, VASliceDataBufferType, 100, 1, nullptr, &buffer),
          VA_STATUS_SUCCESS);
      // Left in the middle of a picture.
      fail_unless_equals_int(vaBeginPicture(display, context, surface), VA_STATUS_SUCCESS);
      fail_unless_equals_int(vaRenderPicture(display, context, &buffer, 1), VA_STATUS_SUCCESS);
    }
    client.terminate();
    fail_unless_equals_int(open_descriptors(), before);
  }
}
GST_END_TEST;

GST_START_TEST(threads_do_not_disturb_each_other) {
  Client client;
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i)
    threads.emplace_back([&client, i] {
      for (int round = 0; round < kRounds / kThreads; ++round)
        one_round(client, static_cast<uint32_t>(round * kThreads + i));
    });
  for (std::thread& thread : threads) thread.join();
}
GST_END_TEST;

// One thread decodes, others ask about, export, copy and destroy the very surfaces it uses.
GST_START_TEST(surfaces_may_vanish_under_every_call) {
  Client client;
  const VADisplay display = client.display();
  const VAContextID context = client.context(64, 48);
  std::atomic<VASurfaceID> current{client.surface(64, 48)};
  std::atomic<bool> done{false};
  std::vector<std::thread> threads;
  threads.emplace_back([&] {
    for (uint32_t round = 0; round < kRounds; ++round) {
      const VAStatus status = client.decode(context, current, {.seed = round});
      fail_unless(status == VA_STATUS_SUCCESS || status == VA_STATUS_ERROR_INVALID_SURFACE);
    }
    done = true;
  });
  threads.emplace_back([&] {
    while (!done) {
      VASurfaceID old = current.exchange(client.surface(64, 48));
      fail_unless_equals_int(vaDestroySurfaces(display, &old, 1), VA_STATUS_SUCCESS);
    }
  });
  threads.emplace_back([&] {
    const VAImage image = client.image(VA_FOURCC_NV12, 64, 48);
    while (!done) {
      const VASurfaceID surface = current;
      VASurfaceStatus state{};
      vaQuerySurfaceStatus(display, surface, &state);
      vaSyncSurface(display, surface);
      vaGetImage(display, surface, 0, 0, 64, 48, image.image_id);
      vaPutImage(display, surface, image.image_id, 0, 0, 64, 48, 0, 0, 64, 48);
      const Export exported(client, surface);
    }
  });
  for (std::thread& thread : threads) thread.join();
}
GST_END_TEST;

// Calls in no sensible order, on ids that several threads make and drop: whatever they answer,
// the driver lives. The ids are a small shared pool, so most calls hit something.
class RandomCaller {
 public:
  using Pool = std::array<std::atomic<VAGenericID>, 24>;

  RandomCaller(const Client& client, Pool& pool, uint32_t seed)
      : client_(client), display_(client.display()), pool_(pool), random_(seed) {}

  void call() {
    switch (below(20)) {
      case 0: {
        VASurfaceID id = VA_INVALID_ID;
        vaCreateSurfaces(display_, VA_RT_FORMAT_YUV420, size(), size(), &id, 1, nullptr, 0);
        keep(id);
        break;
      }
      case 1: {
        VAContextID id = VA_INVALID_ID;
        VASurfaceID target = any();
        vaCreateContext(display_, below(4) ? client_.config() : any(), static_cast<int>(size()),
                        static_cast<int>(size()), 0, &target, below(8) == 0, &id);
        keep(id);
        break;
      }
      case 2:
      case 3: {
        const FakeOrder order{.action = static_cast<FakeAction>(below(3)),
                              .width = size(),
                              .height = size(),
                              .gray = below(2)};
        FakeOrder copy = order;
        VABufferID id = VA_INVALID_ID;
        vaCreateBuffer(display_, any(), static_cast<VABufferType>(below(16)),
                       below(2) ? sizeof copy : below(sizeof copy), 1, &copy, &id);
        keep(id);
        break;
      }
      case 4: {
        VAImageFormat format{};
        constexpr uint32_t kFourccs[] = {VA_FOURCC_NV12, VA_FOURCC_I420, VA_FOURCC_YV12,
                                         VA_FOURCC_P010, VA_FOURCC_ARGB};
        format.fourcc = kFourccs[below(std::size(kFourccs))];
        VAImage image{};
        if (vaCreateImage(display_, &format, static_cast<int>(size()), static_cast<int>(size()),
                          &image) == VA_STATUS_SUCCESS) {
          keep(image.image_id);
          keep(image.buf);
        }
        break;
      }
      case 5: {
        VAImage image{};
        if (vaDeriveImage(display_, any(), &image) == VA_STATUS_SUCCESS) keep(image.image_id);
        break;
      }
      case 6:
      case 7:
        vaBeginPicture(display_, any(), any());
        break;
      case 8:
      case 9: {
        VABufferID buffers[] = {any(), any()};
        vaRenderPicture(display_, any(), buffers, static_cast<int>(below(3)));
        break;
      }
      case 10:
      case 11:
        vaEndPicture(display_, any());
        break;
      case 12:
        vaGetImage(display_, any(), static_cast<int>(below(40)) - 2,
                   static_cast<int>(below(40)) - 2, below(70), below(70), any());
        break;
      case 13: {
        const uint32_t width = below(70), height = below(70);
        vaPutImage(display_, any(), any(), static_cast<int>(below(40)) - 2,
                   static_cast<int>(below(40)), width, height, static_cast<int>(below(40)),
                   static_cast<int>(below(40)), width, height);
        break;
      }
      case 14: {
        const Export exported(client_, any(), below(16));
        break;
      }
      case 15: {
        void* data = nullptr;
        vaMapBuffer(display_, any(), &data);
        vaUnmapBuffer(display_, any());
        break;
      }
      case 16: {
        VASurfaceID id = any();
        vaDestroySurfaces(display_, &id, 1);
        break;
      }
      case 17:
        vaDestroyContext(display_, any());
        break;
      case 18:
        vaDestroyBuffer(display_, any());
        break;
      case 19:
        vaDestroyImage(display_, any());
        break;
    }
  }

 private:
  uint32_t below(size_t limit) { return static_cast<uint32_t>(random_() % limit); }
  uint32_t size() { return below(12) ? 1 + below(64) : 0; }
  VAGenericID any() { return pool_[below(pool_.size())]; }
  void keep(VAGenericID id) { pool_[below(pool_.size())] = id; }

  const Client& client_;
  VADisplay display_;
  Pool& pool_;
  std::minstd_rand random_;
};

GST_START_TEST(calls_at_random_never_hurt) {
  { const Client warm_up; }
  const size_t before = open_descriptors();
  for (uint32_t seed = 1; seed <= 5; ++seed) {
    Client client;
    RandomCaller::Pool pool{};
    std::vector<std::thread> threads;
    for (uint32_t i = 0; i < kThreads; ++i)
      threads.emplace_back([&client, &pool, seed, i] {
        RandomCaller caller(client, pool, seed * 100 + i);
        for (int round = 0; round < kRounds; ++round) caller.call();
      });
    for (std::thread& thread : threads) thread.join();
    // And it still works.
    const FakeOrder order{};
    fail_unless_equals_int(client.decode(client.context(64, 48), client.surface(64, 48), order),
                           VA_STATUS_SUCCESS);
  }
  fail_unless_equals_int(open_descriptors(), before);
}
GST_END_TEST;

Suite* softva_lifetime_suite() {
  Suite* suite = suite_create("softva_lifetime");
  TCase* tcase = tcase_create("general");
  suite_add_tcase(suite, tcase);
  tcase_set_timeout(tcase, 120);
  tcase_add_test(tcase, thousand_rounds_leave_no_descriptor_open);
  tcase_add_test(tcase, ids_do_not_come_again_soon);
  tcase_add_test(tcase, many_surfaces_at_once_are_all_or_none);
  tcase_add_test(tcase, terminate_with_everything_alive_frees_it);
  tcase_add_test(tcase, threads_do_not_disturb_each_other);
  tcase_add_test(tcase, surfaces_may_vanish_under_every_call);
  tcase_add_test(tcase, calls_at_random_never_hurt);
  return suite;
}

}  // namespace

GST_CHECK_MAIN(softva_lifetime)
