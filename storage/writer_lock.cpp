#include "storage/writer_lock.h"

#include <cerrno>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

namespace torchwatch::storage {

namespace {

int open_lock(std::filesystem::path const& file) {
  return ::open(lock_of(file).c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
}

int open_directory(std::filesystem::path const& file) {
  auto const directory = file.parent_path();
  auto const* const path = directory.empty() ? "." : directory.c_str();
  return ::open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

/// True when another process or Store holds the lock. Otherwise takes the lock `how` on an open
/// file. Returns false also for files that cannot be locked, such as a directory on NFS.
bool is_locked_elsewhere(int descriptor, int how) {
  return descriptor >= 0 && ::flock(descriptor, how | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

}  // namespace

std::filesystem::path lock_of(std::filesystem::path file) {
  return file += ".lock";
}

WriterLock::WriterLock(std::filesystem::path const& file)
    : file_{open_lock(file)},
      directory_{open_directory(file)} {}

WriterLock::~WriterLock() {
  if (directory_ >= 0) ::close(directory_);
  if (file_ >= 0) ::close(file_);
}

bool WriterLock::is_held() const {
  return file_ >= 0 && ::flock(file_, LOCK_EX | LOCK_NB) == 0 &&
         !is_locked_elsewhere(directory_, LOCK_EX);
}

bool has_writer(std::filesystem::path const& file) {
  int const lock = ::open(lock_of(file).c_str(), O_RDONLY | O_CLOEXEC);  // none: no writer yet
  int const directory = open_directory(file);
  bool const is_held =
      is_locked_elsewhere(lock, LOCK_SH) || is_locked_elsewhere(directory, LOCK_SH);
  if (directory >= 0) ::close(directory);
  if (lock >= 0) ::close(lock);
  return is_held;
}

}  // namespace torchwatch::storage
