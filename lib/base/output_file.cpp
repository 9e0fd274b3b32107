// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/base/output_file.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <optional>
#include <system_error>

#include "lib/base/translation.hpp"

namespace dxva {
namespace {

Error file_error(const std::string& path, int errno_value) {
  Error out = errno_error("", errno_value);
  out.code = ErrorCode::Failed;
  out.text = path + ": " + out.text;
  return out;
}

Error not_to_be_replaced(const std::string& text) {
  return {.code = ErrorCode::BadInput, .call = "", .text = text};
}

std::optional<struct stat> look_at(const std::string& path) {
  struct stat found = {};
  if (::stat(path.c_str(), &found) != 0) return std::nullopt;
  return found;
}

bool same_file(const struct stat& one, const struct stat& other) {
  return one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}

bool is_stdout(const struct stat& file) {
  struct stat out = {};
  return ::fstat(STDOUT_FILENO, &out) == 0 && same_file(file, out);
}

// A symlink whose target is still to be made leads there as well.
std::string behind_links(const std::string& path) {
  std::filesystem::path at = path;
  std::error_code failed;
  for (int links = 0; links < 40 && std::filesystem::is_symlink(at, failed); ++links) {
    const std::filesystem::path next = std::filesystem::read_symlink(at, failed);
    if (failed) break;
    at = at.parent_path() / next;
  }
  return at.string();
}

std::string name_of(OutputFile::Kind kind) {
  switch (kind) {
    case OutputFile::Kind::Svg:
      return "SVG";
    case OutputFile::Kind::Png:
      return "PNG";
    case OutputFile::Kind::Html:
      return "HTML";
    case OutputFile::Kind::Md5Lines:
      return "MD5 list";
  }
  return "";
}

bool begins_like(OutputFile::Kind kind, const std::string& head) {
  std::string text = head.starts_with("\xef\xbb\xbf") ? head.substr(3) : head;
  text.erase(0, std::min(text.find_first_not_of(" \t\r\n"), text.size()));
  std::string lower = text;
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char one) { return static_cast<char>(std::tolower(one)); });
  switch (kind) {
    case OutputFile::Kind::Svg:
      return text.starts_with("<?xml") || text.starts_with("<svg");
    case OutputFile::Kind::Png:
      return head.starts_with("\x89PNG\r\n\x1a\n");
    case OutputFile::Kind::Html:
      return lower.starts_with("<!doctype html") || lower.starts_with("<html");
    case OutputFile::Kind::Md5Lines:
      return text.size() > 32 && text[32] == '\n' &&
             lower.find_first_not_of("0123456789abcdef") == 32;
  }
  return false;
}

// A pipe that nobody reads any more is an error like any other, not the end of the process. The
// signal goes to the thread that writes, so nobody else's handling of it is touched.
class WithoutSigpipe {
 public:
  WithoutSigpipe() {
    sigset_t pending;
    ::sigemptyset(&pipe_);
    ::sigaddset(&pipe_, SIGPIPE);
    ::sigpending(&pending);
    had_one_ = ::sigismember(&pending, SIGPIPE) == 1;
    ::pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  ~WithoutSigpipe() {
    const timespec at_once = {};
    if (!had_one_) ::sigtimedwait(&pipe_, nullptr, &at_once);
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  WithoutSigpipe(const WithoutSigpipe&) = delete;
  WithoutSigpipe& operator=(const WithoutSigpipe&) = delete;

 private:
  sigset_t pipe_;
  sigset_t before_;
  bool had_one_ = false;
};

// 0, or the errno.
int write_all(int fd, std::string_view bytes) {
  const WithoutSigpipe guard;
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return 0;
}

}  // namespace

Status OutputFile::check(const std::string& path, Kind kind, const std::string& input) {
  const auto there = look_at(path);
  if (!there) return Done{};
  if (!input.empty()) {
    const auto read = look_at(input);
    if (read && S_ISREG(there->st_mode) && same_file(*there, *read))
      return not_to_be_replaced(fill(_("%s is what is read; choose another name"), path));
  }
  if (!S_ISREG(there->st_mode) || there->st_size == 0 || is_stdout(*there)) return Done{};
  const UniqueFd file{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  if (!file.valid()) return file_error(path, errno);
  std::array<char, 512> head;
  const ssize_t length = ::read(file.get(), head.data(), head.size());
  if (length < 0) return file_error(path, errno);
  if (begins_like(kind, std::string(head.data(), static_cast<size_t>(length)))) return Done{};
  return not_to_be_replaced(
      fill(_("%s is there already, and is no %s; remove it or choose another name"), path,
           name_of(kind)));
}

Result<OutputFile> OutputFile::open(const std::string& path, Kind kind,
                                    const std::string& input) {
  if (auto may = check(path, kind, input); !may) return may.error();
  OutputFile out(path);
  out.target_ = path;
  const auto there = look_at(path);
  if (there && is_stdout(*there)) {
    out.opened_ = UniqueFd::duplicate(STDOUT_FILENO);
    if (!out.opened_.valid()) return file_error(path, errno);
    return out;
  }
  if (there && !S_ISREG(there->st_mode)) {
    out.opened_.reset(::open(path.c_str(), O_WRONLY | O_TRUNC | O_NOCTTY | O_CLOEXEC));
    if (!out.opened_.valid()) return file_error(path, errno);
    return out;
  }
  out.target_ = behind_links(path);
  // root may write what is read-only, but whoever made it so did not mean it to be replaced.
  if (there && (there->st_mode & 0222) == 0) return file_error(path, EACCES);
  const int made = there ? 0 : O_CREAT | O_EXCL;
  const UniqueFd tried{::open(out.target_.c_str(), O_WRONLY | O_CLOEXEC | made, 0666)};
  if (!tried.valid()) return file_error(path, errno);
  if (!there) ::unlink(out.target_.c_str());
  return out;
}

bool OutputFile::would_replace() const {
  const auto there = look_at(target_);
  return !opened_.valid() && there && there->st_size > 0;
}

Status OutputFile::write(std::string_view bytes) const {
  if (opened_.valid()) {
    if (const int failed = write_all(opened_.get(), bytes)) return file_error(path_, failed);
    return Done{};
  }
  const auto there = look_at(target_);
  const std::string part = target_ + "." + std::to_string(::getpid()) + ".part";
  UniqueFd file{::open(part.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666)};
  if (!file.valid()) {
    // A file may be writable in a folder that is not.
    const bool only_the_folder =
        there && (errno == EACCES || errno == EPERM || errno == EROFS || errno == ENAMETOOLONG);
    return only_the_folder ? write_in_place(bytes) : Status(file_error(path_, errno));
  }
  if (const int failed = write_all(file.get(), bytes)) {
    ::unlink(part.c_str());
    return file_error(path_, failed);
  }
  if (there) static_cast<void>(::fchmod(file.get(), there->st_mode & 07777));
  // A second name or another owner would be lost by renaming; a mount point cannot be renamed
  // over.
  const bool ours = !there || (there->st_nlink == 1 && there->st_uid == ::geteuid());
  if (ours && ::rename(part.c_str(), target_.c_str()) == 0) return Done{};
  ::unlink(part.c_str());
  return write_in_place(bytes);
}

Status OutputFile::write_in_place(std::string_view bytes) const {
  const UniqueFd file{::open(target_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)};
  if (!file.valid()) return file_error(path_, errno);
  if (const int failed = write_all(file.get(), bytes)) return file_error(path_, failed);
  return Done{};
}

Status flush(FILE* file, const std::string& name) {
  const bool failed_before = std::ferror(file) != 0;
  if (std::fflush(file) == 0 && !failed_before) return Done{};
  return Error{
      .code = ErrorCode::Failed,
      .call = "",
      .text = name + ": " + (failed_before ? "could not be written" : std::strerror(errno))};
}

}  // namespace dxva
