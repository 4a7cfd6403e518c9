#pragma once

namespace torchwatch::builds {

/// The disk space that builds may take. An interface, so that the makers of builds do not depend on
/// the users of builds, and so that tests see the calls. Single-threaded; blocks on the disk.
class DiskBudget {
 public:
  virtual ~DiskBudget() = default;

  /// Called before a build is made or fetched. Removes unused builds until one more, as large as
  /// the newest, fits. The build is made even if there is not enough space.
  virtual void make_space_for_another() = 0;

  /// Called after a build was made or fetched, successfully or not. Removes unused builds until the
  /// rest fits. Raises the alarm `builds_need_space` when it does not fit.
  virtual void make_space() = 0;
};

}  // namespace torchwatch::builds
