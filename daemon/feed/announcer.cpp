#include "daemon/feed/announcer.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

#include <spdlog/spdlog.h>

#include "daemon/feed/news.h"
#include "daemon/feed/staleness.h"
#include "storage/base/date.h"
#include "storage/domain/retry.h"

namespace torchwatch::feed {

namespace {

/// Removes nightlies of future dates that no clock or time zone explains.
void refuse_days_to_come(Found& found, Timestamp now) {
  constexpr std::chrono::days most_ahead{2};
  auto const is_to_come = [&](Nightly const& nightly) {
    auto const day = day_of(nightly.date);
    return day && *day > now + most_ahead;
  };
  for (auto const& nightly : found.nightlies)
    if (is_to_come(nightly))
      found.odd.push_back("nightly " + nightly.date + " " + nightly.version + nightly.prefix +
                          ": its date is in the future");
  std::erase_if(found.nightlies, is_to_come);
}

}  // namespace

boost::asio::awaitable<Result<>> Announcer::look() {
  auto found = co_await feed_->look();
  if (!found) co_return found.error();
  refuse_days_to_come(*found, clock_.now());
  note_odd(std::move(found->odd));
  newer_ = std::move(found->newer);
  auto known = known_near(found->nightlies, store_.nightlies());
  behind_ = why_behind(options_, found->nightlies, known);
  follow(found->nightlies, known);
  for (auto& nightly : news_in(std::move(found->nightlies), known, options_.backlog)) {
    nightly.announced_at = clock_.now();
    if (!store_.nightlies().announce(nightly)) continue;
    spdlog::info("nightly_announced date={} commit={} version={}{}",
                 nightly.date,
                 short_of(nightly.commit),
                 nightly.version,
                 nightly.file ? " url=" + nightly.file->url : "");
  }
  co_return Result<>{};
}

/// Stores the new places of known nightlies, also in `known`. A copy named "latest" may appear
/// before the permanent directory, a digest before its file.
void Announcer::follow(std::vector<Nightly> const& found, std::vector<Nightly>& known) {
  for (auto const& nightly : moved_in(found, known)) {
    auto const before = std::ranges::find(known, nightly.id, &Nightly::id);
    bool const is_another = nightly.file && before->file->sha256 != nightly.file->sha256;
    if (is_another) store_.retries().forget(retry_subject(nightly.id));
    store_.nightlies().update(nightly);
    *before = nightly;
  }
}

void Announcer::note_odd(std::vector<std::string> odd) {
  std::ranges::sort(odd);
  for (auto const& entry : odd)
    if (!seen_ || !std::ranges::binary_search(*seen_, entry))
      spdlog::warn("feed_entry_passed_over reason=\"{}\"", entry);
  auto const before = seen_.value_or(odd);
  std::vector<std::string> still_odd;
  std::ranges::set_intersection(odd, before, std::back_inserter(still_odd));
  odd_ = std::move(still_odd);
  seen_ = std::move(odd);
}

}  // namespace torchwatch::feed
