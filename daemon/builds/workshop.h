#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include "config/options.h"
#include "runner/process/child_process.h"
#include "runner/process/sandbox.h"
#include "storage/base/result.h"

namespace torchwatch::builds {

/// Where this host compiles what others wrote: recipes, git in their checkouts and workers run in
/// sandboxes. They read what the service can read, but for its state and its tokens, and write to
/// what is theirs and to caches. Single-threaded.
class Workshop {
 public:
  /// `options` must outlive it. Ends what a killed service left of its sandboxes, which may hold
  /// the lock of a worktree.
  Workshop(boost::asio::any_io_executor executor, config::Options const& options)
      : executor_{std::move(executor)},
        options_{options} {
    process::end_orphaned_sandboxes();
  }

  /// What a program may do beside reading.
  struct Access {
    std::vector<std::filesystem::path> writable;  ///< directories, made where they are missing
    std::vector<std::filesystem::path> readable;  ///< where they lie in hidden places
    std::filesystem::path temporary;  ///< becomes its /tmp, made if missing; empty: memory
    bool has_network = true;
  };

  /// `command` as it is to be started, with the variables that compilers and recipes go by. Its
  /// first `outside` words stay out of the sandbox. Fails with unavailable when this host has no
  /// sandboxes and `source.isolation` does not do without.
  boost::asio::awaitable<Result<process::Command>> confine(process::Command command,
                                                           Access access,
                                                           std::size_t outside = 0);

  /// Tries out whether this host can make a sandbox now, where they are used: a program that failed
  /// in one may never have been started. Fails as confine; the failure is the host's where the host
  /// could make them before.
  boost::asio::awaitable<Result<>> try_out();

  /// How this host keeps them apart; found out once. Fails as confine.
  boost::asio::awaitable<Result<process::Isolation>> isolation();

  /// "bubblewrap", "none", or nothing before it was found out.
  std::string isolation_so_far() const {
    return isolation_ ? std::string{process::describe(*isolation_)} : "";
  }

  config::Options const& options() const { return options_; }

 private:
  process::Sandbox sandbox_for(Access const& access) const;

  boost::asio::any_io_executor executor_;
  config::Options const& options_;
  std::optional<process::Isolation> isolation_;
};

}  // namespace torchwatch::builds
