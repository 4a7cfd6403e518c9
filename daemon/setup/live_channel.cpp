#include "daemon/setup/live_channel.h"

#include <filesystem>
#include <optional>
#include <utility>

#include <spdlog/fmt/fmt.h>
#include <sys/utsname.h>

#include "daemon/builds/downloads.h"
#include "daemon/feed/staleness.h"
#include "fetch/index.h"
#include "runner/process/scratch_directory.h"
#include "storage/base/number.h"

namespace torchwatch::setup {
namespace asio = boost::asio;

namespace {

constexpr int last_minor = 9;

/// The date of the newest nightly of a channel; nothing where the index has no such channel.
using NewestDate = std::optional<std::string>;

std::string machine_here() {
  utsname host{};
  return ::uname(&host) == 0 ? static_cast<char const*>(host.machine) : "";
}

fetch::IndexRequest request_for(config::FeedOptions const& feed, std::string const& folder) {
  fetch::IndexRequest request;
  request.page = builds::question_to(feed, builds::page_of_wheels(feed, "torch"));
  request.page.attempts = 1;
  request.file = std::filesystem::path{folder} / "index.html";
  request.filter.variant = feed.channel;
  request.filter.machine = machine_here();
  return request;
}

/// True when the page is missing: S3 replies 403 then.
bool is_missing(Result<fetch::Index> const& index) {
  return index ? index->end == fetch::Downloaded::End::absent
               : index.error().message.ends_with(" 403");
}

asio::awaitable<Result<NewestDate>> newest_date(builds::Fetcher& fetcher,
                                                config::FeedOptions feed,
                                                std::string folder) {
  auto request = request_for(feed, folder);
  auto const index = co_await fetcher.look_into(std::move(request));
  if (is_missing(index)) co_return NewestDate{};
  if (!index) co_return index.error();
  if (index->offers.empty()) co_return NewestDate{};
  co_return NewestDate{index->offers.back().package.date};
}

}  // namespace

std::vector<std::string> channels_for(std::string const& version) {
  auto const dot = version.find('.');
  if (dot == std::string::npos) return {};
  auto const major = parse_number<int>(version.substr(0, dot));
  auto const minor = parse_number<int>(version.substr(dot + 1));
  if (!major || !minor) return {};
  std::vector<std::string> channels;
  for (int older = *minor; older >= 0; --older)
    channels.push_back(fmt::format("cu{}{}", *major, older));
  for (int older = last_minor; older >= 0; --older)
    channels.push_back(fmt::format("cu{}{}", *major - 1, older));
  return channels;
}

asio::awaitable<Result<std::string>> live_channel(builds::Fetcher& fetcher,
                                                  config::FeedOptions feed,
                                                  std::string cuda,
                                                  Clock const& clock) {
  if (feed.stale_days == 0) feed.stale_days = config::FeedOptions{}.stale_days;
  auto const scratch = process::ScratchDirectory::make();
  if (!scratch) co_return scratch.error();
  auto const channels = channels_for(cuda);
  std::string dead;
  for (auto const& channel : channels) {
    feed.channel = channel;
    auto const date = co_await newest_date(fetcher, feed, scratch->path());
    if (!date) co_return within("channel " + channel, date.error());
    if (!*date) continue;
    if (feed::why_stale(feed, **date, "", clock.now()).empty()) co_return channel;
    if (dead.empty()) dead = fmt::format("; {} ends with {}", channel, **date);
  }
  co_return Error{ErrorCode::not_found,
                  fmt::format("no channel for CUDA {} or older has a nightly of the last {} days{}",
                              cuda,
                              feed.stale_days,
                              dead)};
}

}  // namespace torchwatch::setup
