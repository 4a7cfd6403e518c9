#include "tests/soak/full_disk.h"

#include <cerrno>
#include <cstddef>
#include <optional>
#include <stdexcept>

#include <sqlite3.h>
#include <unistd.h>

namespace torchwatch::soak {
namespace {

/// The writes that are left, while the disk is filling.
std::optional<int> writes_left;
int failed_writes = 0;

/// True when a write must fail. Counts it.
bool is_beyond_the_end() {
  if (!writes_left) return false;
  if (*writes_left > 0) {
    --*writes_left;
    return false;
  }
  ++failed_writes;
  errno = ENOSPC;
  return true;
}

ssize_t write_or_fail(int file, void const* bytes, std::size_t count) {
  return is_beyond_the_end() ? -1 : ::write(file, bytes, count);
}

ssize_t pwrite_or_fail(int file, void const* bytes, std::size_t count, off_t at) {
  return is_beyond_the_end() ? -1 : ::pwrite(file, bytes, count, at);
}

/// Replaces a system call of SQLite; null restores it.
void replace(char const* name, sqlite3_syscall_ptr function) {
  auto* const files = sqlite3_vfs_find(nullptr);
  if (files == nullptr || files->iVersion < 3 ||
      files->xSetSystemCall(files, name, function) != SQLITE_OK)
    throw std::runtime_error("SQLite's system calls cannot be replaced");
}

}  // namespace

FullDisk::FullDisk() {
  clear();
  failed_writes = 0;
  replace("write", reinterpret_cast<sqlite3_syscall_ptr>(&write_or_fail));
  replace("pwrite", reinterpret_cast<sqlite3_syscall_ptr>(&pwrite_or_fail));
  replace("pwrite64", reinterpret_cast<sqlite3_syscall_ptr>(&pwrite_or_fail));
}

FullDisk::~FullDisk() {
  for (auto const* const name : {"write", "pwrite", "pwrite64"}) {
    auto* const files = sqlite3_vfs_find(nullptr);
    if (files != nullptr) files->xSetSystemCall(files, name, nullptr);
  }
  writes_left.reset();
}

void FullDisk::fill_after(int writes) {
  writes_left = writes;
}

void FullDisk::clear() {
  writes_left.reset();
}

bool FullDisk::is_full() const {
  return writes_left.has_value();
}

int FullDisk::failed() const {
  return failed_writes;
}

}  // namespace torchwatch::soak
