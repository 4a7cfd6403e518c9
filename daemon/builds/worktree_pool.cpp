#include "daemon/builds/worktree_pool.h"

#include <algorithm>

#include <fcntl.h>
#include <spdlog/spdlog.h>
#include <sys/file.h>
#include <unistd.h>

#include "storage/base/remove_tree.h"

namespace torchwatch::builds {
namespace asio = boost::asio;
namespace fs = std::filesystem;

namespace {

/// True when a process holds the lock.
bool is_locked(fs::path const& lock) {
  int const file = ::open(lock.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  bool const locked = ::flock(file, LOCK_EX | LOCK_NB) != 0;
  ::close(file);
  return locked;
}

}  // namespace

WorktreePool::WorktreePool(asio::any_io_executor executor, Workshop& workshop, fs::path parent)
    : executor_{std::move(executor)},
      workshop_{workshop},
      parent_{std::move(parent)} {
  std::error_code problem;
  for (auto const& entry : fs::directory_iterator{parent_, problem}) {
    auto const lock = entry.path() / "lock";
    bool const is_used = is_locked(lock);
    if (fs::exists(lock) && !is_used && Worktree::was_made_at(entry.path())) {
      add(entry.path());
      continue;
    }
    if (is_used)
      spdlog::warn("worktree_abandoned path={} reason=\"a build goes on in it\"",
                   entry.path().string());
    remove_tree(entry.path(), problem);
  }
}

WorktreePool::Lease WorktreePool::take() {
  PooledWorktree* free = nullptr;
  for (auto const& place : worktrees_)
    if (!place->is_taken && (free == nullptr || place->tree.is_warm())) free = place.get();
  if (free != nullptr) return Lease{*free};
  auto number = worktrees_.size();
  while (fs::exists(parent_ / std::to_string(number)))
    ++number;
  return Lease{add(parent_ / std::to_string(number))};
}

bool WorktreePool::is_warm() const {
  return std::ranges::any_of(worktrees_, [](auto const& place) { return place->tree.is_warm(); });
}

WorktreePool::PooledWorktree& WorktreePool::add(fs::path const& directory) {
  Worktree tree{executor_, workshop_, directory};
  return *worktrees_.emplace_back(
      std::make_unique<PooledWorktree>(PooledWorktree{std::move(tree)}));
}

}  // namespace torchwatch::builds
