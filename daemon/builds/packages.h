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

/// The treatment of a nightly whose trunk commit the clone's remote does not give now.
enum class Trunk {
  awaited,   ///< it is tried again
  optional,  ///< its release commit stands for it
};

/// Published builds. Each nightly's file is fetched into `state_dir/builds/nightly-ID` and kept
/// there. Single-threaded.
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

  /// Returns the build of `nightly.file` with its companions, and with a worker compiled for it if
  /// a suite needs one. Fetches the file if it is missing. Stores in `nightly` its commits, read
  /// from the build, and its contents' digest.
  ///
  /// The result has no build, but a reason, when the contents are damaged or no worker compiles
  /// against them. Fails with unavailable when another attempt may succeed, because the server or a
  /// cache is behind; downloaded data is not downloaded again. If the clone cannot name the trunk
  /// commit, the release commit replaces it and the nightly is measured.
  boost::asio::awaitable<Result<BuildAttempt>> bring(Nightly& nightly,
                                                     Trunk trunk = Trunk::awaited);

 private:
  boost::asio::awaitable<Result<>> fetch(Nightly& nightly, std::filesystem::path directory);
  boost::asio::awaitable<Result<BuildAttempt>> read(Nightly& nightly,
                                                    std::filesystem::path directory,
                                                    Trunk wanted);
  boost::asio::awaitable<Result<>> make_programs(Nightly const& nightly,
                                                 std::filesystem::path directory,
                                                 std::filesystem::path prefix);
  boost::asio::awaitable<Result<>> note_commit(Nightly& nightly, CommitSha release, Trunk wanted);

  config::Options const& options_;
  Fetcher& fetcher_;
  DiskBudget& budget_;
  GitFetch& git_fetch_;
  Workers& workers_;
  Companions companions_;
};

}  // namespace torchwatch::builds
