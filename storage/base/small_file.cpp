#include "storage/base/small_file.h"

#include <algorithm>
#include <cerrno>
#include <system_error>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace torchwatch {
namespace {

class OpenFile {
 public:
  explicit OpenFile(std::filesystem::path const& file, int flags)
      : fd_{::open(file.c_str(), flags | O_CLOEXEC, 0644)} {}

  OpenFile(OpenFile const&) = delete;
  OpenFile& operator=(OpenFile const&) = delete;

  ~OpenFile() {
    if (fd_ >= 0) ::close(fd_);
  }

  int get() const { return fd_; }

 private:
  int fd_;
};

/// Returns the code for an errno. Problems that can pass without action by a user are unavailable.
ErrorCode code_of(int problem) {
  switch (problem) {
    case ENOENT:
    case ENOTDIR:
      return ErrorCode::not_found;
    case ELOOP:
    case ENXIO:
    case EACCES:
    case EPERM:
      return ErrorCode::corrupt;
    default:
      return ErrorCode::unavailable;
  }
}

/// Appends up to `most` bytes, in pieces, because the file is usually much shorter. Returns the
/// errno of a failure, else 0.
int read_up_to(int fd, std::string& text, std::size_t most) {
  constexpr std::size_t piece = std::size_t{64} << 10;
  while (text.size() < most) {
    auto const had = text.size();
    text.resize(had + std::min(piece, most - had));
    auto const bytes = ::read(fd, text.data() + had, text.size() - had);
    int const problem = bytes < 0 ? errno : 0;
    text.resize(had + (bytes < 0 ? 0 : static_cast<std::size_t>(bytes)));
    if (problem != 0 && problem != EINTR) return problem;
    if (bytes == 0) break;
  }
  return 0;
}

/// Writes `text` to the disk. Returns the errno of a failure, else 0.
int write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    auto const bytes = ::write(fd, text.data(), text.size());
    if (bytes < 0 && errno != EINTR) return errno;
    if (bytes > 0) text.remove_prefix(static_cast<std::size_t>(bytes));
  }
  return ::fsync(fd) == 0 ? 0 : errno;
}

/// Creates a new file, after deleting the one with its name. Returns the errno of a failure, else
/// 0.
int write_new(std::filesystem::path const& file, std::string_view text) {
  if (::unlink(file.c_str()) != 0 && errno != ENOENT) return errno;
  OpenFile const opened{file, O_WRONLY | O_CREAT | O_EXCL};
  return opened.get() < 0 ? errno : write_all(opened.get(), text);
}

/// Flushes a directory to the disk, so a rename in it survives a power failure.
int flush_directory(std::filesystem::path const& directory) {
  OpenFile const opened{directory.empty() ? "." : directory, O_RDONLY | O_DIRECTORY};
  return opened.get() >= 0 && ::fsync(opened.get()) == 0 ? 0 : errno;
}

}  // namespace

Result<> write_small_file(std::filesystem::path const& file, std::string_view text) {
  auto unfinished = file;
  unfinished += ".new";
  int problem = write_new(unfinished, text);
  if (problem == 0 && ::rename(unfinished.c_str(), file.c_str()) != 0) problem = errno;
  if (problem == 0) problem = flush_directory(file.parent_path());
  if (problem == 0) return {};
  return Error{ErrorCode::unavailable,
               file.string() + ": cannot be written: " + std::generic_category().message(problem)};
}

Result<std::string> read_small_file(std::filesystem::path const& file, std::size_t most) {
  auto const failed = [&file](ErrorCode code, std::string const& why) {
    return Error{code, file.string() + ": " + why};
  };
  auto const by_errno = [&failed](int problem) {
    return failed(code_of(problem), std::generic_category().message(problem));
  };
  // O_NONBLOCK: a pipe without a writer does not block. O_NOCTTY: a terminal does not control us.
  OpenFile const opened{file, O_RDONLY | O_NONBLOCK | O_NOCTTY};
  if (opened.get() < 0) return by_errno(errno);

  struct stat facts {};

  if (::fstat(opened.get(), &facts) != 0) return by_errno(errno);
  if (!S_ISREG(facts.st_mode)) return failed(ErrorCode::corrupt, "is not a regular file");
  auto too_large =
      failed(ErrorCode::corrupt, "has more than " + std::to_string(most) + " bytes, the limit");
  if (static_cast<std::size_t>(facts.st_size) > most) return too_large;
  std::string text;
  int const problem = read_up_to(opened.get(), text, most + 1);  // it may have grown
  if (problem != 0) return by_errno(problem);
  if (text.size() > most) return too_large;
  return text;
}

}  // namespace torchwatch
