#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <boost/asio/any_io_executor.hpp>

#include "daemon/builds/worktree.h"

namespace torchwatch::builds {

/// The worktrees under a directory, as many as are used at a time. They outlive the service: the
/// next build is an incremental one. Single-threaded.
class WorktreePool {
 private:
  struct PooledWorktree {
    Worktree tree;
    bool is_taken = false;
  };

 public:
  /// Whoever holds it is alone in the worktree.
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

  /// Takes over what a predecessor left, but for worktrees in which an orphan of a killed one still
  /// builds: these are removed, and so is whatever it builds. `workshop` must outlive it.
  WorktreePool(boost::asio::any_io_executor executor,
               Workshop& workshop,
               std::filesystem::path parent);

  /// One in which something was built, if such a one is free.
  Lease take();

  /// Whether anything was built in any of them.
  bool is_warm() const;

 private:
  PooledWorktree& add(std::filesystem::path const& directory);

  boost::asio::any_io_executor executor_;
  Workshop& workshop_;
  std::filesystem::path parent_;
  std::vector<std::unique_ptr<PooledWorktree>> worktrees_;
};

}  // namespace torchwatch::builds
