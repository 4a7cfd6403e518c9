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

/// The sandboxes in which this host compiles code of others: recipes, git in their checkouts, and
/// workers. They can read what the service can read, except its state and its tokens. They can
/// write to their own directories and to caches. Single-threaded.
class Workshop {
 public:
  /// `options` must outlive it. Ends the sandboxes of a killed service, which may hold the lock of
  /// a worktree.
  Workshop(boost::asio::any_io_executor executor, config::Options const& options)
      : executor_{std::move(executor)},
        options_{options} {
    process::end_orphaned_sandboxes();
  }

  /// The permissions of a program, in addition to reading.
  struct Access {
    std::vector<std::filesystem::path> writable;  ///< directories, made if missing
    std::vector<std::filesystem::path> readable;  ///< directories within hidden ones
    std::filesystem::path temporary;  ///< becomes its /tmp, made if missing; empty: memory
    bool has_network = true;
  };

  /// Returns `command` in a sandbox, with the variables that compilers and recipes need. Its first
  /// `outside` words stay out of the sandbox. Fails with unavailable when this host has no
  /// sandboxes and `source.isolation` requires them.
  boost::asio::awaitable<Result<process::Command>> confine(process::Command command,
                                                           Access access,
                                                           std::size_t outside = 0);

  /// Checks that this host can make a sandbox now, where they are used: a program that failed in
  /// one may never have started. Fails as confine() does. The failure is one of the host
  /// (Error::is_of_host) if the host could make sandboxes before.
  boost::asio::awaitable<Result<>> try_out();

  /// Returns the kind of isolation of this host, found out once. Fails as confine() does.
  boost::asio::awaitable<Result<process::Isolation>> isolation();

  /// Returns "bubblewrap", "none", or nothing before it is known.
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
