// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tools/doctor/child.hpp"

#include <gio/gio.h>
#include <sys/wait.h>

#include <csignal>
#include <cstdio>
#include <cstring>
#include <memory>
#include <utility>

#include "lib/base/translation.hpp"

namespace dxva::doctor {
namespace {

// A driver's first start may compile shaders, and GStreamer's looks at all plugins; more than
// this no person waits for.
constexpr guint kSeconds = 60;
// From then on whoever looks at the screen is told what takes so long.
constexpr guint kSilentSeconds = 3;
constexpr size_t kLogBytes = 2000;

struct Unref {
  void operator()(gpointer object) const { g_object_unref(object); }
};

struct Waiting {
  GMainLoop* loop = nullptr;
  GBytes* out = nullptr;
  GBytes* err = nullptr;
  bool late = false;
  GSubprocess* process = nullptr;
  const char* whom = "";
  bool told = false;
  GCancellable* reading = nullptr;
};

void on_end(GObject* source, GAsyncResult* result, gpointer data) {
  auto& waiting = *static_cast<Waiting*>(data);
  g_subprocess_communicate_finish(G_SUBPROCESS(source), result, &waiting.out, &waiting.err,
                                  nullptr);
  g_main_loop_quit(waiting.loop);
}

gboolean on_late(gpointer data) {
  auto& waiting = *static_cast<Waiting*>(data);
  waiting.late = true;
  g_subprocess_force_exit(waiting.process);
  // Its own children may hang as well (GStreamer's plugin scanner), and hold its stdout open.
  g_cancellable_cancel(waiting.reading);
  return G_SOURCE_CONTINUE;  // removed by whoever added it
}

gboolean on_long(gpointer data) {
  auto& waiting = *static_cast<Waiting*>(data);
  if (!std::exchange(waiting.told, true))
    std::fprintf(stderr, _("dxva-doctor: waiting for %s\n"), waiting.whom);
  return G_SOURCE_CONTINUE;  // removed by whoever added it
}

// Drivers print what they like: not always UTF-8, and as much as they like.
std::string take(GBytes* bytes) {
  if (!bytes) return {};
  gsize size = 0;
  const auto* data = static_cast<const char*>(g_bytes_get_data(bytes, &size));
  std::string out(data ? data : "", data ? size : 0);
  g_bytes_unref(bytes);
  return out;
}

std::string tail(const std::string& all) {
  return all.size() > kLogBytes ? all.substr(all.size() - kLogBytes) : all;
}

}  // namespace

Json run_child(const std::vector<std::string>& arguments, const std::string& whom) {
  // Not argv[0]: that need not lead here.
  std::vector<const char*> argv = {"/proc/self/exe"};
  for (const std::string& argument : arguments) argv.push_back(argument.c_str());
  argv.push_back(nullptr);

  Json failed = Json::object();
  GError* error = nullptr;
  const std::unique_ptr<GSubprocess, Unref> process(
      g_subprocess_newv(argv.data(),
                        static_cast<GSubprocessFlags>(G_SUBPROCESS_FLAGS_STDOUT_PIPE |
                                                      G_SUBPROCESS_FLAGS_STDERR_PIPE),
                        &error));
  if (!process) {
    failed.set("error", error->message);
    g_clear_error(&error);
    return failed;
  }
  Waiting waiting{
      .loop = g_main_loop_new(nullptr, FALSE), .process = process.get(), .whom = whom.c_str()};
  const guint timer = g_timeout_add_seconds(kSeconds, on_late, &waiting);
  const guint silence = g_timeout_add_seconds(kSilentSeconds, on_long, &waiting);
  const std::unique_ptr<GCancellable, Unref> reading(g_cancellable_new());
  waiting.reading = reading.get();
  g_subprocess_communicate_async(process.get(), nullptr, reading.get(), on_end, &waiting);
  g_main_loop_run(waiting.loop);
  g_source_remove(timer);
  g_source_remove(silence);
  g_main_loop_unref(waiting.loop);
  const std::string out = take(waiting.out);
  const std::string err = take(waiting.err);

  if (waiting.late) {
    failed.set("error", "hangs: no answer in " + std::to_string(kSeconds) + " seconds");
  } else if (g_subprocess_get_if_signaled(process.get())) {
    failed.set("error",
               std::string("crashed: ") + strsignal(g_subprocess_get_term_sig(process.get())));
  } else if (auto answer = Json::parse(out); answer && !answer->names().empty()) {
    if (answer->at("error").exists()) answer->set("log", tail(err));
    return *answer;
  } else {
    failed.set("error",
               "no answer, exit status " +
                   std::to_string(WEXITSTATUS(g_subprocess_get_status(process.get()))));
  }
  failed.set("log", tail(err));
  return failed;
}

}  // namespace dxva::doctor
