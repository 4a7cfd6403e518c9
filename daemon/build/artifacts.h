#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>

#include <boost/asio/awaitable.hpp>

#include "daemon/build/fetcher.h"
#include "storage/domain/build.h"
#include "storage/domain/result.h"

namespace torchwatch::build {

/// Builds of commits that somebody else made: `source.artifacts`, a directory or the URL of an
/// archive, with `{commit}` in its name.
class Artifacts {
 public:
  /// `fetcher` must outlive it. A download and its unpacking take `timeout` together at most.
  Artifacts(Fetcher& fetcher, std::string place, std::chrono::seconds timeout)
      : fetcher_{fetcher},
        place_{std::move(place)},
        timeout_{timeout} {}

  /// The build in the commit's directory, if it is whole and of this commit; nothing where
  /// artifacts have a URL. Blocks on the disk.
  std::optional<Build> find(CommitSha const& commit) const;

  /// Downloads and unpacks the commit's archive (zip or tar, however compressed) under `work`,
  /// which is made if need be and the caller's to remove, and returns the prefix in it: the
  /// archive's top, or the only directory there, whichever holds build.json, unread. Nothing when
  /// the server has no such archive (404, 410), or where artifacts are directories. Fails with
  /// unavailable, naming URL and reason.
  boost::asio::awaitable<Result<std::optional<std::filesystem::path>>> download(
      CommitSha commit, std::filesystem::path work) const;

 private:
  std::string place_of(CommitSha const& commit) const;

  Fetcher& fetcher_;
  std::string place_;
  std::chrono::seconds timeout_;
};

}  // namespace torchwatch::build
