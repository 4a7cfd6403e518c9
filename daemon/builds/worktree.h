#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include "bisect/git/history.h"
#include "daemon/builds/workshop.h"
#include "storage/base/result.h"
#include "storage/domain/build.h"

namespace torchwatch::builds {

/// Whose files a build is made of.
struct Origin {
  CommitSha commit;

  struct Revert {
    CommitSha culprit;
    CommitSha onto;
  };

  std::optional<Revert> revert{};  ///< the commit is this one, which no repository has
};

/// A checkout of the watched repository that recipes use one after another, with a directory for
/// what they keep between builds. It goes from commit to commit, so only what differs between two
/// is compiled again. A clone of its own that shares the repository's objects: the repository is
/// never written to, and whatever a recipe asks of git works. It may leave behind settings that
/// have git run what it likes, so git, too, works in there as a recipe does, the service itself
/// reads nothing of it, and neither can put another in the place of a directory that the service
/// goes by. Single-threaded.
class Worktree {
 public:
  /// In `directory`, as it is, or to be made. `workshop` must outlive it.
  Worktree(boost::asio::any_io_executor executor,
           Workshop& workshop,
           std::filesystem::path directory);

  std::filesystem::path source() const { return directory_ / "source"; }

  /// What recipes keep between builds.
  std::filesystem::path kept() const { return directory_ / "kept"; }

  /// A repository of the commits that take others back, which source() shares, too.
  std::filesystem::path reverts() const { return directory_ / "reverts"; }

  /// Held by whoever works in here: to be locked by flock(1) as long as a recipe runs.
  std::filesystem::path lock() const { return directory_ / "lock"; }

  /// Whether something was built in here, so that the next build is an incremental one.
  bool is_warm() const;
  void warm_up() const;

  /// Empties kept() when what is in there was made by another recipe: nobody else may know that it
  /// is stale. `contents`: of the recipe that works in here next.
  Result<> prepare_for(std::string const& contents) const;

  /// Brings the files of a commit to source(): those that differ are written, and all are compared
  /// with the commit afterwards. Fails with unavailable, in git's words, or because this host
  /// cannot start git now (Error::is_of_host); the files that were there stay then.
  boost::asio::awaitable<Result<>> check_out(Origin origin);

 private:
  std::string const& repository() const;
  boost::asio::awaitable<Result<>> clone();
  Result<bisect::GitHistory> open_reverts() const;
  boost::asio::awaitable<Result<>> go_to(Origin const& origin);
  boost::asio::awaitable<Result<>> verify(CommitSha commit);
  boost::asio::awaitable<Result<>> git(std::vector<std::string> arguments);

  boost::asio::any_io_executor executor_;
  Workshop* workshop_;
  std::filesystem::path directory_;
};

}  // namespace torchwatch::builds
