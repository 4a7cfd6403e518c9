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

/// The locations of artifacts, with `{commit}` in the name.
struct ArtifactPlaces {
  std::string build;  ///< a directory, or the URL of an archive; empty: nowhere
  /// A file with the archive's SHA-256, as URL or path. Empty: a file next to the archive may have
  /// it.
  std::string sha256{};
};

/// Builds of commits that another system made: `source.artifacts`.
class Artifacts {
 public:
  /// `fetcher` must outlive it. `timeout` limits a download and its unpacking together.
  Artifacts(Fetcher& fetcher, ArtifactPlaces places, std::chrono::seconds timeout)
      : fetcher_{fetcher},
        places_{std::move(places)},
        timeout_{timeout} {}

  /// Returns the build in the commit's directory, if it is complete and of this commit. Returns
  /// nothing where artifacts have a URL. Blocks on the disk.
  std::optional<Build> find(CommitSha const& commit) const;

  /// Downloads and unpacks the commit's archive (zip, or tar with any compression) under `work`.
  /// Makes `work` if it is missing; the caller removes it. Returns the prefix: the archive's top or
  /// its only directory, the one that holds build.json. Does not read that file. Returns nothing
  /// when the server has neither the archive nor its digest (404, 410), or where artifacts are
  /// directories.
  ///
  /// An archive whose SHA-256 differs from the published one is not unpacked. The digest of
  /// `ArtifactPlaces::sha256` is required; the one next to the archive is optional.
  ///
  /// Fails as fetching does. Errors name URL and reason. corrupt: the archive or its digest is
  /// damaged. refused: the server denies access (403), or redirects to a host that is not allowed.
  /// unavailable: any other failure, such as an archive that is missing although its digest exists.
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
