#pragma once

#include <filesystem>
#include <string>
#include <utility>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include "config/options.h"
#include "daemon/builds/builder.h"
#include "daemon/builds/companions.h"
#include "daemon/builds/disk_budget.h"
#include "daemon/builds/fetcher.h"
#include "daemon/builds/git_fetch.h"
#include "daemon/builds/workers.h"
#include "storage/base/result.h"
#include "storage/domain/build.h"

namespace torchwatch::builds {

/// What becomes of a nightly whose trunk commit the remote of the clone does not give now.
enum class Trunk {
  awaited,   ///< it is tried again
  optional,  ///< its release commit stands for it
};

/// Builds that are published: each nightly's file is brought into `state_dir/builds/nightly-ID` and
/// stays there. Single-threaded.
class Packages {
 public:
  /// All arguments must outlive it.
  Packages(boost::asio::any_io_executor executor,
           config::Options const& options,
           Fetcher& fetcher,
           DiskBudget& budget,
           GitFetch& git_fetch,
           Workers& workers)
      : options_{options},
        fetcher_{fetcher},
        budget_{budget},
        git_fetch_{git_fetch},
        workers_{workers},
        companions_{std::move(executor), options, fetcher, budget} {}

  /// The build of `nightly.file`, which is brought here unless it is, with its companions and a
  /// worker compiled for it; notes in `nightly` what it says of itself (commits) and which contents
  /// it has. Absent, with the reason, when these contents are no good, or no worker compiles
  /// against them. Fails with unavailable when it may be tried again, since the server or a cache
  /// in front of it is behind: what has come is not downloaded again. A clone that cannot name the
  /// trunk commit costs no measurement: the release commit stands for it then.
  boost::asio::awaitable<Result<BuildAttempt>> bring(Nightly& nightly,
                                                     Trunk trunk = Trunk::awaited);

 private:
  boost::asio::awaitable<Result<>> fetch(Nightly& nightly, std::filesystem::path directory);
  boost::asio::awaitable<Result<BuildAttempt>> read(Nightly& nightly,
                                                    std::filesystem::path directory,
                                                    Trunk wanted);
  boost::asio::awaitable<Result<>> note_commit(Nightly& nightly, CommitSha release, Trunk wanted);

  config::Options const& options_;
  Fetcher& fetcher_;
  DiskBudget& budget_;
  GitFetch& git_fetch_;
  Workers& workers_;
  Companions companions_;
};

}  // namespace torchwatch::builds
