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

/// The commit whose files a build is made of.
struct Origin {
  CommitSha commit;

  struct Revert {
    CommitSha culprit;
    CommitSha onto;
  };

  std::optional<Revert> revert{};  ///< set: `commit` is this revert, in no repository
};

/// A checkout of the watched repository that recipes use one after another, with a directory that
/// they keep between builds. It moves from commit to commit, so only the differences are compiled.
/// Single-threaded.
///
/// It is a separate clone that shares the repository's objects. The repository is never written to,
/// and a recipe can use any git command. A recipe may leave settings that make git run any program.
/// So git runs in the sandbox of recipes, and the service reads no git data of the checkout.
/// Neither can replace a directory that the service uses.
class Worktree {
 public:
  /// Uses or makes the worktree in `directory`. `workshop` must outlive it.
  Worktree(boost::asio::any_io_executor executor,
           Workshop& workshop,
           std::filesystem::path directory);

  /// True when the worktree in `directory` was made there. One that was moved or copied is not used
  /// again: the files of its builds name the old place, and a recipe would write there.
  static bool was_made_at(std::filesystem::path const& directory);

  std::filesystem::path source() const { return directory_ / "source"; }

  /// The files that recipes keep between builds.
  std::filesystem::path kept() const { return directory_ / "kept"; }

  /// A repository of revert commits, whose objects source() shares, too.
  std::filesystem::path reverts() const { return directory_ / "reverts"; }

  /// A file to be locked with flock(1) while a recipe runs.
  std::filesystem::path lock() const { return directory_ / "lock"; }

  /// True when something was built here, so that the next build is an incremental one.
  bool is_warm() const;
  void warm_up() const;

  /// Empties kept() when another recipe made its files, which may be stale. `contents`: those of
  /// the next recipe.
  Result<> prepare_for(std::string const& contents) const;

  /// Checks out a commit in source(). Writes only files that differ, and then compares all with the
  /// commit. Fails with unavailable and git's message, or because this host cannot start git now
  /// (Error::is_of_host). The old files stay then.
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
