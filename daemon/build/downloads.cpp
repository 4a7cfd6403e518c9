#include "daemon/build/downloads.h"

#include <algorithm>
#include <chrono>
#include <system_error>
#include <utility>

#include "http/url.h"

namespace torchwatch::build {
namespace fs = std::filesystem;

fetch::DownloadOrder download_of(config::FeedOptions const& feed, std::string url) {
  fetch::DownloadOrder order;
  order.url = std::move(url);
  order.hosts = feed.hosts;
  order.ca_file = feed.ca_file;
  return order;
}

fetch::DownloadOrder question_to(config::FeedOptions const& feed, std::string url) {
  auto order = download_of(feed, std::move(url));
  order.limit = std::chrono::minutes{5};
  return order;
}

fs::path download_folder(config::Options const& options) {
  auto folder = fs::absolute(options.state_dir) / "downloads";
  std::error_code ignored;  // whoever writes there names it
  fs::create_directories(folder, ignored);
  return folder;
}

std::string page_of_wheels(config::FeedOptions const& feed, std::string const& package) {
  return feed.url + "/whl/nightly/" + feed.channel + "/" + package + "/";
}

bool is_allowed(std::string const& url, config::FeedOptions const& feed) {
  auto const file = http::Url::parse(url);
  auto const index = http::Url::parse(feed.url);
  return file && index && (file->scheme() == "https" || index->scheme() == "http") &&
         (file->host() == index->host() ||
          std::ranges::find(feed.hosts, file->host()) != feed.hosts.end());
}

}  // namespace torchwatch::build
