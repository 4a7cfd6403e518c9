#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>

#include <boost/asio/awaitable.hpp>

#include "daemon/builds/fetcher.h"
#include "storage/base/result.h"
#include "storage/domain/build.h"

namespace torchwatch::builds {

/// Where they lie, with `{commit}` in the name.
struct ArtifactPlaces {
  std::string build;  ///< a directory, or the URL of an archive; empty: nowhere
  /// A file with the archive's SHA-256, by URL or path; empty: it may lie next to the archive.
  std::string sha256{};
};

/// Builds of commits that somebody else made: `source.artifacts`.
class Artifacts {
 public:
  /// `fetcher` must outlive it. A download and its unpacking take `timeout` together at most.
  Artifacts(Fetcher& fetcher, ArtifactPlaces places, std::chrono::seconds timeout)
      : fetcher_{fetcher},
        places_{std::move(places)},
        timeout_{timeout} {}

  /// The build in the commit's directory, if it is whole and of this commit; nothing where
  /// artifacts have a URL. Blocks on the disk.
  std::optional<Build> find(CommitSha const& commit) const;

  /// Downloads and unpacks the commit's archive (zip or tar, however compressed) under `work`,
  /// which is made if need be and the caller's to remove, and returns the prefix in it: the
  /// archive's top, or the only directory there, whichever holds build.json, unread. Nothing when
  /// the server has no such archive and no digest of it (404, 410), or where artifacts are
  /// directories.
  ///
  /// What has another SHA-256 than is published is not unpacked. One that is published in
  /// `ArtifactPlaces::sha256` is required, one next to the archive may be missing. Fails with what
  /// fetching fails with, naming URL and reason: corrupt, the archive or its digest is no good;
  /// refused, the server gives none (403), or sends elsewhere than it may; unavailable, anything
  /// else, also an archive that is not there though its digest is.
  boost::asio::awaitable<Result<std::optional<std::filesystem::path>>> download(
      CommitSha commit, std::filesystem::path work) const;

 private:
  boost::asio::awaitable<Result<std::optional<std::string>>> published_digest(
      CommitSha commit, std::filesystem::path file) const;
  boost::asio::awaitable<Result<std::optional<std::string>>> read_digest(
      std::string url, std::filesystem::path file) const;
  boost::asio::awaitable<Result<bool>> is_there(std::string url, std::filesystem::path file) const;

  Fetcher& fetcher_;
  ArtifactPlaces places_;
  std::chrono::seconds timeout_;
};

}  // namespace torchwatch::builds
