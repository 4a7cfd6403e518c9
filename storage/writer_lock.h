#pragma once

#include <filesystem>

namespace torchwatch::storage {

/// Advisory locks on a file next to the database and on their directory. The directory is locked
/// because a lock file can be deleted and created again. The kernel releases the locks however the
/// process ends.
class WriterLock {
 public:
  /// Opens the files to lock. is_held() takes the locks.
  explicit WriterLock(std::filesystem::path const& file);

  WriterLock(WriterLock const&) = delete;
  WriterLock& operator=(WriterLock const&) = delete;

  ~WriterLock();

  /// Takes the locks. Returns true when no other writer of the database has them.
  bool is_held() const;

 private:
  int file_;
  int directory_;
};

/// Returns the file next to the database that is locked.
std::filesystem::path lock_of(std::filesystem::path file);

/// True when any process, also this one, has `file` open for writing. A Store::open() at the same
/// instant fails and can be repeated.
bool has_writer(std::filesystem::path const& file);

}  // namespace torchwatch::storage
