#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include "config/options.h"
#include "daemon/async/semaphore.h"
#include "daemon/async/tool.h"
#include "storage/base/result.h"
#include "storage/domain/build.h"

namespace torchwatch::builds {

/// Brings new commits from `source.remote` into `source.repository`, by git itself.
/// Single-threaded; one fetch at a time.
///
/// Branches go where the remote's refspecs put them. Where none is configured, as after `git clone
/// --bare`, they go to the branches of a bare repository, and to refs/remotes/REMOTE of another.
/// Nothing is pruned, and tags and submodules are left out. Locks of branches and unfinished packs
/// that are an hour old are those of a git that was killed: they are removed.
class GitFetch {
 public:
  /// `source` must outlive it.
  GitFetch(boost::asio::any_io_executor executor, config::SourceOptions const& source)
      : executor_{executor},
        source_{source},
        gate_{std::move(executor), 1} {}

  /// Returns at once when all `commits` are in the repository, otherwise after a fetch, if there is
  /// a remote. Errors name the repository and the first commit that is missing: unavailable when
  /// the fetch failed, so that it may be tried again (Error::is_of_host where git did not start);
  /// not_found when the remote lacks it, too.
  boost::asio::awaitable<Result<>> ensure(std::vector<CommitSha> commits);

  /// Fetches what is new; nothing without a remote. Fails with unavailable, in git's words.
  boost::asio::awaitable<Result<>> refresh();

  /// Asks the remote for a branch's commit and fetches nothing: the hash, or nothing where the
  /// remote has no such branch. Fails with unavailable, in git's words, when it does not answer
  /// within a minute.
  boost::asio::awaitable<Result<std::optional<CommitSha>>> ask_remote(std::string branch);

 private:
  boost::asio::awaitable<Result<>> fetch();
  boost::asio::awaitable<Result<std::string>> missing_refspec();
  boost::asio::awaitable<Result<async::ToolRun>> git_past_remains(
      std::vector<std::string> arguments);
  boost::asio::awaitable<Result<async::ToolRun>> git(
      std::vector<std::string> arguments, std::chrono::seconds limit = std::chrono::minutes{10});

  boost::asio::any_io_executor executor_;
  config::SourceOptions const& source_;
  async::Semaphore gate_;
};

}  // namespace torchwatch::builds
