#pragma once

#include <filesystem>
#include <string>

#include "config/options.h"
#include "fetch/download.h"

/// Where what the feed publishes comes from, and where it comes to.
namespace torchwatch::builds {

/// How a file of the feed is downloaded.
fetch::DownloadRequest download_of(config::FeedOptions const& feed, std::string url);

/// How a page of the feed is downloaded, or a file asked for by its head: what is not answered soon
/// is asked again by the next pass, and this one goes on.
fetch::DownloadRequest question_to(config::FeedOptions const& feed, std::string url);

/// Where files lie while they come; made if need be.
std::filesystem::path download_folder(config::Options const& options);

/// The index's page of a package's wheels. `package`: its canonical name.
std::string page_of_wheels(config::FeedOptions const& feed, std::string const& package);

/// A page may link to anywhere; files come from the index's own host and from `feed.hosts`, and not
/// over http where the index has https.
bool is_allowed(std::string const& url, config::FeedOptions const& feed);

}  // namespace torchwatch::builds
