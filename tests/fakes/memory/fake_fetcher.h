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

/// An index of LibTorch archives and of wheels and a host that has them, without a network. What is
/// fetched is a directory as it unpacks to, with nothing in its files.
class FakeFetcher final : public builds::Fetcher {
 public:
  /// A published file.
  struct File {
    std::string date;
    std::string version;
    CommitSha release;               ///< what it says that it was built from
    std::string etag;                ///< its contents' version
    std::string says{};              ///< its version, as it says itself; empty: that of its name
    bool is_listed = true;           ///< on the page
    std::optional<Error> trouble{};  ///< that fetching it meets
    std::int64_t bytes = 0;          ///< of its largest library, which is one hole
    std::string library{};           ///< another one that an archive has, "libgomp.so.1"
    int downloads = 0;
    int troubles = 0;                  ///< how often `trouble` was met
    std::string sha256{};              ///< of its contents; empty: made of their version
    std::string listed_sha256{};       ///< on the page; empty: the page has none
    std::string cached_etag{};         ///< of older contents, which a cache sends but for the head
    std::vector<std::string> needs{};  ///< of a wheel: Requires-Dist
    bool is_restless = false;          ///< each answer has another etag
    bool is_downloaded = false;        ///< by a call that was killed: nothing is known of it
    std::string record_warning{};      ///< how its RECORD differs
    std::int64_t length = 0;           ///< Content-Length; 0: the server has none
    int comparisons = 0;               ///< how often it was downloaded for its digest alone
  };

  /// Another package's wheel, with one library.
  struct CompanionWheel {
    std::string name;
    std::string version;
    std::string library;  ///< "nvidia/cu13/lib/libcudart.so.13"; empty: it has none
    std::vector<std::string> needs{};
    std::optional<Error> trouble{};
    std::int64_t bytes = 0;
    int downloads = 0;
    int lookups = 0;
  };

  boost::asio::awaitable<Result<fetch::Fetched>> fetch(fetch::FetchRequest request) override;
  boost::asio::awaitable<Result<fetch::Index>> look_into(fetch::IndexRequest request) override;
  boost::asio::awaitable<Result<fetch::CompanionFile>> find(
      fetch::CompanionRequest request) override;

  /// By URL.
  std::map<std::string, File> files;
  std::map<std::string, CompanionWheel> companions;
  /// Why nothing on the page fits; empty: all does.
  std::string misfit;
  /// Pythons of newer nightlies than those that fit.
  std::string newer;
  /// That asking for the page meets.
  std::optional<Error> trouble;
  /// How often the page came, and how often it was as before.
  int pages = 0;
  int unchanged = 0;
  /// How long a page, or a file's head, may be asked for.
  std::chrono::seconds longest_question{0};

 private:
  std::string page_version() const;
};

}  // namespace torchwatch::fakes
