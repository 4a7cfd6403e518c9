#pragma once

namespace torchwatch::soak {

/// A disk that is full for SQLite: from then on its writes fail with ENOSPC, so that the database
/// reports SQLITE_FULL. Concerns all databases of this process that are opened while this object
/// exists. One object exists at a time. Single-threaded.
class FullDisk {
 public:
  /// Replaces the functions with which SQLite writes to files.
  FullDisk();
  FullDisk(FullDisk const&) = delete;
  FullDisk& operator=(FullDisk const&) = delete;

  /// Restores these functions.
  ~FullDisk();

  /// Makes the disk full after this number of writes to files.
  void fill_after(int writes);

  /// Makes space on the disk.
  void clear();

  bool is_full() const;

  /// Returns the number of writes that failed.
  int failed() const;
};

}  // namespace torchwatch::soak
