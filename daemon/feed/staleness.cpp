#include "daemon/feed/staleness.h"

#include <algorithm>
#include <chrono>

#include <fmt/format.h>

#include "storage/base/date.h"

namespace torchwatch::feed {
namespace {

bool is_published(config::FeedOptions const& feed) {
  return feed.kind == config::FeedKind::wheels || feed.kind == config::FeedKind::libtorch;
}

/// Returns the address of the feed, for people.
std::string address_of(config::FeedOptions const& feed) {
  return is_published(feed) ? fmt::format("{} (channel {})", feed.url, feed.channel) : feed.path;
}

}  // namespace

std::string why_behind(config::FeedOptions const& feed,
                       std::vector<Nightly> const& found,
                       std::vector<Nightly> const& known) {
  if (known.empty()) return {};
  auto const& judged = known.back().date;
  auto const newest = std::ranges::max_element(found, {}, &Nightly::date);
  if (newest != found.end() && newest->date >= judged) return {};
  auto const has = newest == found.end() ? std::string{"it has no nightly"}
                                         : fmt::format("its newest nightly is of {}", newest->date);
  return fmt::format(
      "feed {}: {}, and nightly {} is known, so nothing new was judged; `torchwatch nightlies` "
      "lists what was. Configure the feed of that nightly, or an empty state_dir for this one",
      address_of(feed),
      has,
      judged);
}

std::string text_about_newer(config::FeedOptions const& feed, std::string const& newer) {
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
  if (!newer.empty()) return text + text_about_newer(feed, newer);
  if (!is_published(feed)) return text;
  return text + fmt::format("; is channel {} still built? `torchwatch init` picks one that is",
                            feed.channel);
}

}  // namespace torchwatch::feed
