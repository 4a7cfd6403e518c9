#pragma once

namespace torchwatch::builds {

/// The disk space that builds may take. An interface, so that what makes and fetches builds need
/// not see who uses which, and so that tests see when it is asked. Single-threaded; blocks on the
/// disk.
class DiskBudget {
 public:
  virtual ~DiskBudget() = default;

  /// Called before a build is made or fetched: removes unused builds until one more, as large as
  /// the newest, fits. What still lacks space is made all the same.
  virtual void make_space_for_another() = 0;

  /// Called after a build was made or fetched, whether that succeeded or not: removes unused builds
  /// until what is there fits, and raises the alarm `builds_need_space` when it does not.
  virtual void make_space() = 0;
};

}  // namespace torchwatch::builds
