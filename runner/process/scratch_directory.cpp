#include "runner/process/scratch_directory.h"

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "storage/base/remove_tree.h"

namespace torchwatch::process {

namespace fs = std::filesystem;

namespace {

constexpr auto prefix = "torchwatch-scratch-";

/// Locks the directory at `path` and returns its descriptor. Returns -1 when it does not exist,
/// belongs to another user, or another process holds the lock.
int lock_directory(std::string const& path) {
  int const directory = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (directory < 0) return -1;

  struct stat there {};

  bool const is_ours = ::fstat(directory, &there) == 0 && there.st_uid == ::geteuid();
  if (is_ours && ::flock(directory, LOCK_EX | LOCK_NB) == 0) return directory;
  ::close(directory);
  return -1;
}

/// True when the directory was not removed. A sweep can remove a new one before it is locked.
bool is_still_there(int directory) {
  struct stat there {};

  return ::fstat(directory, &there) == 0 && there.st_nlink > 0;
}

}  // namespace

Result<ScratchDirectory> ScratchDirectory::make() {
  constexpr int attempts = 10;
  std::error_code error;
  auto const pattern = (fs::temp_directory_path(error) / (std::string{prefix} + "XXXXXX")).string();
  for (int i = 0; i < attempts && !error; ++i) {
    auto path = pattern;
    if (::mkdtemp(path.data()) == nullptr) {
      error = {errno, std::generic_category()};
      continue;
    }
    int const lock = lock_directory(path);
    if (lock >= 0 && is_still_there(lock)) return ScratchDirectory{std::move(path), lock};
    if (lock >= 0) ::close(lock);
  }
  auto const why = error ? error.message() : "others remove it";
  return Error{ErrorCode::unavailable, "make a directory " + pattern + ": " + why};
}

Result<> ScratchDirectory::link(std::string const& name, std::string const& target) const {
  std::error_code error;
  fs::create_symlink(target, path_ + '/' + name, error);
  if (!error) return {};
  return Error{ErrorCode::unavailable,
               "link " + path_ + '/' + name + " to " + target + ": " + error.message()};
}

ScratchDirectory::~ScratchDirectory() {
  std::error_code ignored;
  if (!path_.empty()) remove_tree(path_, ignored);
  if (lock_ >= 0) ::close(lock_);
}

void sweep_scratch_directories() {
  std::error_code ignored;
  for (auto const& entry : fs::directory_iterator{fs::temp_directory_path(ignored), ignored}) {
    if (!entry.path().filename().string().starts_with(prefix)) continue;
    int const lock = lock_directory(entry.path().string());
    if (lock < 0) continue;
    remove_tree(entry.path(), ignored);
    ::close(lock);
  }
}

}  // namespace torchwatch::process
