#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <boost/asio/any_io_executor.hpp>

#include "daemon/builds/worktree.h"

namespace torchwatch::builds {

/// The worktrees under a directory, as many as are used at a time. They outlive the service, so
/// that the next build is an incremental one. Single-threaded.
class WorktreePool {
 private:
  struct PooledWorktree {
    Worktree tree;
    bool is_taken = false;
  };

 public:
  /// The exclusive use of a worktree, until it is destroyed.
  class Lease {
   public:
    explicit Lease(PooledWorktree& place) : worktree_{&place} { worktree_->is_taken = true; }

    Lease(Lease&& other) noexcept : worktree_{std::exchange(other.worktree_, nullptr)} {}

    Lease(Lease const&) = delete;
    Lease& operator=(Lease const&) = delete;
    Lease& operator=(Lease&&) = delete;

    ~Lease() {
      if (worktree_ != nullptr) worktree_->is_taken = false;
    }

    Worktree* operator->() const { return &worktree_->tree; }

    Worktree& operator*() const { return worktree_->tree; }

   private:
    PooledWorktree* worktree_;
  };

  /// Takes over the worktrees of a predecessor. Removes those in which an orphan of a killed one
  /// still builds, with its output. `workshop` must outlive it.
  WorktreePool(boost::asio::any_io_executor executor,
               Workshop& workshop,
               std::filesystem::path parent);

  /// Returns a free worktree, preferably one in which something was built.
  Lease take();

  /// True when something was built in any of them.
  bool is_warm() const;

 private:
  PooledWorktree& add(std::filesystem::path const& directory);

  boost::asio::any_io_executor executor_;
  Workshop& workshop_;
  std::filesystem::path parent_;
  std::vector<std::unique_ptr<PooledWorktree>> worktrees_;
};

}  // namespace torchwatch::builds
