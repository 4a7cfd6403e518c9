#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "config/options.h"
#include "fetch/download.h"
#include "http/url.h"

/// The addresses of published files, and the folders for downloads.
namespace torchwatch::builds {

/// Returns the limits and proxies for the download of a file.
fetch::DownloadRequest download_of(config::FeedOptions const& feed, std::string url);

/// Returns the request for a page of the feed, or for the head of a file. It gives up early: the
/// next pass tries again.
fetch::DownloadRequest question_to(config::FeedOptions const& feed, std::string url);

/// Returns the folder for downloads, and makes it if it is missing.
std::filesystem::path download_folder(config::Options const& options);

/// Returns the address of the index page with a package's wheels. `package`: its canonical name.
std::string page_of_wheels(config::FeedOptions const& feed, std::string const& package);

/// The hosts from which the files of a feed may be fetched: the index's own and `feed.hosts`.
class AllowedHosts {
 public:
  /// `feed` must outlive it.
  explicit AllowedHosts(config::FeedOptions const& feed);

  /// True when `url` is on one of them. http is not allowed where the index uses https.
  bool allow(std::string const& url) const;

 private:
  std::vector<std::string> const& hosts_;
  std::optional<http::Url> index_;  ///< absent: it is not a URL, and nothing is allowed
};

}  // namespace torchwatch::builds
