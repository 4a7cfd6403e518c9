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

/// Fetches new commits from `source.remote` into `source.repository`, with git. Single-threaded;
/// one fetch at a time.
///
/// Branches follow the refspecs of the remote. Without refspecs, as after `git clone --bare`, they
/// go to the branches of a bare repository, or to refs/remotes/REMOTE otherwise. Nothing is pruned;
/// tags and submodules are left out. A killed git leaves locks of branches and unfinished packs:
/// those that are an hour old are removed.
class GitFetch {
 public:
  /// `source` must outlive it.
  GitFetch(boost::asio::any_io_executor executor, config::SourceOptions const& source)
      : executor_{executor},
        source_{source},
        gate_{std::move(executor), 1} {}

  /// Returns immediately when all `commits` are in the repository, otherwise after a fetch, if
  /// there is a remote. Errors name the repository and the first missing commit. unavailable: the
  /// fetch failed and may be tried again (Error::is_of_host where git did not start). not_found:
  /// the remote lacks the commit, too.
  boost::asio::awaitable<Result<>> ensure(std::vector<CommitSha> commits);

  /// Fetches new commits; does nothing without a remote. Fails with unavailable and git's message.
  boost::asio::awaitable<Result<>> refresh();

  /// Returns the commit of a branch on the remote, without a fetch; nothing where the remote has no
  /// such branch. Fails with unavailable and git's message when the remote does not answer within a
  /// minute.
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
