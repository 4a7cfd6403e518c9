#include "daemon/feed/staleness.h"

#include <chrono>

#include <fmt/format.h>

#include "storage/base/date.h"

namespace torchwatch::feed {
namespace {

bool is_published(config::FeedOptions const& feed) {
  return feed.kind == config::FeedKind::wheels || feed.kind == config::FeedKind::libtorch;
}

}  // namespace

std::string told_of_newer(config::FeedOptions const& feed, std::string const& newer) {
  if (newer.empty()) return {};
  auto const wanted = feed.abi.empty() ? fmt::format("feed.python is \"{}\"", feed.python)
                                       : fmt::format("feed.abi is \"{}\"", feed.abi);
  return fmt::format("; newer nightlies exist for {}, {}", newer, wanted);
}

std::string why_stale(config::FeedOptions const& feed,
                      std::string const& date,
                      std::string const& newer,
                      Timestamp now) {
  auto const day = day_of(date);
  if (feed.stale_days == 0 || !day) return {};
  auto const age = std::chrono::floor<std::chrono::days>(now - *day).count();
  if (age <= feed.stale_days) return {};
  auto text = fmt::format("the newest nightly is of {}, {} days ago; feed.stale_days allows {}",
                          date,
                          age,
                          feed.stale_days);
  if (!newer.empty()) return text + told_of_newer(feed, newer);
  if (!is_published(feed)) return text;
  return text + fmt::format("; is channel {} still built? `torchwatch init` picks one that is",
                            feed.channel);
}

}  // namespace torchwatch::feed
