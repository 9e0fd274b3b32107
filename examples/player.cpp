// SPDX-License-Identifier: LGPL-2.1-or-later
// A player in a window of SDL's, with the application's own OpenGL context: frames arrive as
// textures, and where surfaces can be imported nothing is copied on the way.
//
//   player [--frames N] MEDIA
//
// What an application has to do: make an EGL context (not GLX), hand it to GStreamer when elements
// ask for one, and keep a frame for as long as it draws it. docs/plugins/applications.md explains.

#include <SDL.h>
#include <SDL_opengl.h>
#include <SDL_syswm.h>
#include <gst/app/gstappsink.h>
#include <gst/gl/gl.h>
#include <gst/gl/x11/gstgldisplay_x11.h>
#include <gst/gst.h>
#include <gst/video/video.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

struct Shared {
  GstGLDisplay* display = nullptr;
  GstGLContext* context = nullptr;  // SDL's, wrapped
};

int complain(const char* what) {
  std::fprintf(stderr, "player: %s\n", what);
  return 1;
}

// Elements ask for a display and an application's context while they go to READY; on whatever
// thread that happens, so the answer must not wait for the main loop.
GstBusSyncReply on_message(GstBus*, GstMessage* message, gpointer data) {
  const auto& shared = *static_cast<Shared*>(data);
  const char* type = nullptr;
  if (GST_MESSAGE_TYPE(message) != GST_MESSAGE_NEED_CONTEXT ||
      !gst_message_parse_context_type(message, &type))
    return GST_BUS_PASS;
  GstElement* element = GST_ELEMENT(GST_MESSAGE_SRC(message));
  if (g_strcmp0(type, GST_GL_DISPLAY_CONTEXT_TYPE) == 0) {
    GstContext* context = gst_context_new(GST_GL_DISPLAY_CONTEXT_TYPE, TRUE);
    gst_context_set_gl_display(context, shared.display);
    gst_element_set_context(element, context);
    gst_context_unref(context);
  } else if (g_strcmp0(type, "gst.gl.app_context") == 0) {
    GstContext* context = gst_context_new("gst.gl.app_context", TRUE);
    gst_structure_set(gst_context_writable_structure(context), "context", GST_TYPE_GL_CONTEXT,
                      shared.context, nullptr);
    gst_element_set_context(element, context);
    gst_context_unref(context);
  }
  return GST_BUS_PASS;
}

void draw(GstSample* sample, const Shared& shared, SDL_Window* window) {
  GstVideoInfo info;
  GstVideoFrame frame;
  GstBuffer* buffer = gst_sample_get_buffer(sample);
  if (!gst_video_info_from_caps(&info, gst_sample_get_caps(sample)) ||
      !gst_video_frame_map(&frame, &info, buffer,
                           static_cast<GstMapFlags>(GST_MAP_READ | GST_MAP_GL)))
    return;
  // The frame was finished in another context: wait for that, on the GPU.
  if (GstGLSyncMeta* sync = gst_buffer_get_gl_sync_meta(buffer))
    gst_gl_sync_meta_wait(sync, shared.context);
  const GLuint texture = *static_cast<GLuint*>(frame.data[0]);

  int width = 0, height = 0;
  SDL_GL_GetDrawableSize(window, &width, &height);
  glViewport(0, 0, width, height);
  glClear(GL_COLOR_BUFFER_BIT);
  // The largest rectangle with the picture's proportions.
  const double picture = double(info.width) * info.par_n / (double(info.height) * info.par_d);
  const double area = double(width) / height;
  const auto x = static_cast<GLfloat>(picture < area ? picture / area : 1);
  const auto y = static_cast<GLfloat>(picture < area ? 1 : area / picture);
  glEnable(GL_TEXTURE_2D);
  glBindTexture(GL_TEXTURE_2D, texture);
  glBegin(GL_TRIANGLE_STRIP);
  glTexCoord2f(0, 1), glVertex2f(-x, -y);
  glTexCoord2f(1, 1), glVertex2f(x, -y);
  glTexCoord2f(0, 0), glVertex2f(-x, y);
  glTexCoord2f(1, 0), glVertex2f(x, y);
  glEnd();
  glBindTexture(GL_TEXTURE_2D, 0);
  gst_video_frame_unmap(&frame);
  SDL_GL_SwapWindow(window);
}

bool wants_to_quit() {
  SDL_Event event;
  while (SDL_PollEvent(&event))
    if (event.type == SDL_QUIT ||
        (event.type == SDL_KEYDOWN && event.key.keysym.sym == SDLK_ESCAPE))
      return true;
  return false;
}

bool failed(GstElement* pipeline) {
  GstBus* bus = gst_element_get_bus(pipeline);
  GstMessage* message = gst_bus_pop_filtered(bus, GST_MESSAGE_ERROR);
  gst_object_unref(bus);
  if (!message) return false;
  GError* error = nullptr;
  gst_message_parse_error(message, &error, nullptr);
  complain(error->message);
  g_clear_error(&error);
  gst_message_unref(message);
  return true;
}

bool wrap_context(SDL_Window* window, Shared& shared) {
  SDL_SysWMinfo system;
  SDL_VERSION(&system.version);
  if (!SDL_GetWindowWMInfo(window, &system) || system.subsystem != SDL_SYSWM_X11) {
    complain("this example knows X11 only");
    return false;
  }
  shared.display =
      GST_GL_DISPLAY(gst_gl_display_x11_new_with_display(system.info.x11.display));
  const guintptr handle = gst_gl_context_get_current_gl_context(GST_GL_PLATFORM_EGL);
  const GstGLAPI api =
      gst_gl_context_get_current_gl_api(GST_GL_PLATFORM_EGL, nullptr, nullptr);
  shared.context = gst_gl_context_new_wrapped(shared.display, handle, GST_GL_PLATFORM_EGL, api);
  // For gst_gl_sync_meta_wait(), which calls OpenGL in this context and thread.
  return shared.context && gst_gl_context_activate(shared.context, TRUE) &&
         gst_gl_context_fill_info(shared.context, nullptr);
}

// Plays until the end, an error, the user's wish, or `most` frames; the number of frames.
long play(GstElement* pipeline, GstAppSink* sink, const Shared& shared, SDL_Window* window,
          long most) {
  long frames = 0;
  GstSample* shown = nullptr;
  while (!wants_to_quit() && !failed(pipeline) && !gst_app_sink_is_eos(sink) &&
         (most == 0 || frames < most)) {
    GstSample* sample = gst_app_sink_try_pull_sample(sink, 20 * GST_MSECOND);
    if (!sample) continue;
    draw(sample, shared, window);
    // The frame before may go back to the decoder only now: it was on the screen.
    g_clear_pointer(&shown, gst_sample_unref);
    shown = sample;
    ++frames;
  }
  glFinish();
  g_clear_pointer(&shown, gst_sample_unref);
  return frames;
}

}  // namespace

int main(int argc, char** argv) {
  // GLX cannot import dma-bufs: both sides are told to take EGL before either starts.
  SDL_SetHint(SDL_HINT_VIDEO_X11_FORCE_EGL, "1");
  g_setenv("GST_GL_PLATFORM", "egl", TRUE);
  gst_init(&argc, &argv);
  long most = 0;
  if (argc == 4 && std::strcmp(argv[1], "--frames") == 0) most = std::atol(argv[2]);
  if (argc != (most ? 4 : 2)) return complain("usage: player [--frames N] MEDIA");

  if (SDL_Init(SDL_INIT_VIDEO) != 0) return complain(SDL_GetError());
  SDL_Window* window =
      SDL_CreateWindow("gst-dxva", SDL_WINDOWPOS_CENTERED, SDL_WINDOWPOS_CENTERED, 640, 360,
                       SDL_WINDOW_OPENGL | SDL_WINDOW_RESIZABLE);
  SDL_GLContext context = window ? SDL_GL_CreateContext(window) : nullptr;
  if (!context) return complain(SDL_GetError());
  Shared shared;
  if (!wrap_context(window, shared)) return complain("SDL's context cannot be shared");

  GError* error = nullptr;
  char* uri = gst_filename_to_uri(argv[argc - 1], &error);
  GstElement* pipeline = gst_parse_launch(
      "playbin name=play video-sink=\"dxvaglupload name=upload ! glcolorconvert ! "
      "video/x-raw(memory:GLMemory),format=RGBA,texture-target=2D ! "
      "appsink name=frames max-buffers=2 enable-last-sample=false\"",
      error ? nullptr : &error);
  if (error) return complain(error->message);
  gst_util_set_object_arg(G_OBJECT(pipeline), "flags", "video");
  g_object_set(pipeline, "uri", uri, nullptr);
  g_free(uri);
  GstElement* video = nullptr;
  g_object_get(pipeline, "video-sink", &video, nullptr);
  GstElement* sink = gst_bin_get_by_name(GST_BIN(video), "frames");
  GstElement* upload = gst_bin_get_by_name(GST_BIN(video), "upload");
  GstBus* bus = gst_element_get_bus(pipeline);
  gst_bus_set_sync_handler(bus, on_message, &shared, nullptr);
  gst_object_unref(bus);

  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  const long frames = play(pipeline, GST_APP_SINK(sink), shared, window, most);
  GstStructure* stats = nullptr;
  g_object_get(upload, "stats", &stats, nullptr);
  char* text = gst_structure_to_string(stats);
  std::printf("%ld frames\n%s\n", frames, text);
  g_free(text);
  gst_structure_free(stats);

  gst_element_set_state(pipeline, GST_STATE_NULL);
  gst_object_unref(upload);
  gst_object_unref(sink);
  gst_object_unref(video);
  gst_object_unref(pipeline);
  gst_gl_context_activate(shared.context, FALSE);
  gst_object_unref(shared.context);
  gst_object_unref(shared.display);
  SDL_GL_DeleteContext(context);
  SDL_DestroyWindow(window);
  SDL_Quit();
  return frames > 0 ? 0 : 1;
}
