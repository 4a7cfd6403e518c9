#pragma once

#include <filesystem>
#include <string>

#include "config/options.h"
#include "fetch/download.h"

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

/// True when a file may be fetched from `url`. The host must be the index's own or one of
/// `feed.hosts`. http is not allowed where the index uses https.
bool is_allowed(std::string const& url, config::FeedOptions const& feed);

}  // namespace torchwatch::builds
