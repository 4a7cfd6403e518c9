#include "daemon/builds/downloads.h"

#include <algorithm>
#include <chrono>
#include <system_error>
#include <utility>

namespace torchwatch::builds {
namespace fs = std::filesystem;

fetch::DownloadRequest download_of(config::FeedOptions const& feed, std::string url) {
  fetch::DownloadRequest request;
  request.url = std::move(url);
  request.hosts = feed.hosts;
  request.ca_file = feed.ca_file;
  return request;
}

fetch::DownloadRequest question_to(config::FeedOptions const& feed, std::string url) {
  auto request = download_of(feed, std::move(url));
  request.limit = std::chrono::minutes{5};
  return request;
}

fs::path download_folder(config::Options const& options) {
  auto folder = fs::absolute(options.state_dir) / "downloads";
  std::error_code ignored;  // writing to it reports the error
  fs::create_directories(folder, ignored);
  return folder;
}

std::string page_of_wheels(config::FeedOptions const& feed, std::string const& package) {
  return feed.url + "/whl/nightly/" + feed.channel + "/" + package + "/";
}

AllowedHosts::AllowedHosts(config::FeedOptions const& feed)
    : hosts_{feed.hosts},
      index_{http::Url::parse(feed.url)} {}

bool AllowedHosts::allow(std::string const& url) const {
  auto const file = http::Url::parse(url);
  return file && index_ && (file->scheme() == "https" || index_->scheme() == "http") &&
         (file->host() == index_->host() ||
          std::ranges::find(hosts_, file->host()) != hosts_.end());
}

}  // namespace torchwatch::builds
