#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "daemon/builds/fetcher.h"
#include "storage/domain/build.h"

namespace torchwatch::fakes {

/// An index of LibTorch archives and wheels, and the host that has them, without a network. A
/// fetched file becomes the directory to which it would unpack. Libraries and headers in it are
/// empty or sparse.
class FakeFetcher final : public builds::Fetcher {
 public:
  /// A published file.
  struct File {
    std::string date;
    std::string version;
    CommitSha release;               ///< the commit that its metadata names
    std::string etag;                ///< version of its contents
    std::string says{};              ///< version in its metadata; empty: the version in its name
    bool is_listed = true;           ///< true: the page links it
    std::optional<Error> trouble{};  ///< error of each fetch
    std::int64_t bytes = 0;          ///< size of its largest library, a sparse file
    std::string library{};           ///< another library of an archive, "libgomp.so.1"
    int downloads = 0;
    int troubles = 0;                  ///< number of fetches that ended with `trouble`
    std::string sha256{};              ///< digest of its contents; empty: derived from `etag`
    std::string listed_sha256{};       ///< digest on the page; empty: none
    std::string cached_etag{};         ///< version of older contents, which a cache sends for GET
    std::vector<std::string> needs{};  ///< Requires-Dist of a wheel
    bool is_restless = false;          ///< true: each response has another etag
    bool is_downloaded = false;        ///< true: by a call that was killed, so without validators
    std::string record_warning{};      ///< difference between its files and its RECORD
    std::int64_t length = 0;           ///< Content-Length; 0: not sent
    int comparisons = 0;               ///< number of downloads only for its digest
  };

  /// The wheel of a companion, with one library. Its tags are those of the file's name.
  struct CompanionWheel {
    std::string name;
    std::string version;
    std::string library;  ///< "nvidia/cu13/lib/libcudart.so.13"; empty: none
    std::vector<std::string> needs{};
    std::optional<Error> trouble{};
    std::int64_t bytes = 0;
    int downloads = 0;
    int lookups = 0;
    std::vector<std::string> files{};  ///< more files, each with its own name as its text
    std::string requires_python{};     ///< Requires-Python; the page does not have it
  };

  boost::asio::awaitable<Result<fetch::Fetched>> fetch(fetch::FetchRequest request) override;
  boost::asio::awaitable<Result<fetch::Index>> look_into(fetch::IndexRequest request) override;
  boost::asio::awaitable<Result<fetch::CompanionFile>> find(
      fetch::CompanionRequest request) override;

  /// Files and companions, by URL.
  std::map<std::string, File> files;
  std::map<std::string, CompanionWheel> companions;
  /// The reason why no file on the page fits this host; empty: all files fit.
  std::string misfit;
  /// Python versions of nightlies that are newer than those that fit.
  std::string newer;
  /// Error of each request for the page.
  std::optional<Error> trouble;
  /// Numbers of requests for the page: with a new version, and with an unchanged one.
  int pages = 0;
  int unchanged = 0;
  /// The longest time limit of a request for the page or a file's head.
  std::chrono::seconds longest_question{0};

 private:
  std::string page_version() const;
};

}  // namespace torchwatch::fakes
