#include "daemon/measure/raw_data_cleanup.h"

#include <algorithm>
#include <optional>
#include <ranges>

#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <spdlog/spdlog.h>

namespace torchwatch::measure {
namespace asio = boost::asio;

namespace {

/// The number of jobs per step, which takes the loop and the writer some milliseconds.
constexpr int jobs_a_step = 200;

/// The most steps of a pass. After an update, years of samples may be deletable at once.
constexpr int most_steps = 100;

/// True when nothing more is measured for the nightly. One that waits for its report has an
/// incident, which keeps its samples.
bool is_closed(NightlyState state) {
  return state == NightlyState::bisected || state == NightlyState::done ||
         state == NightlyState::failed;
}

bool is_needed(Campaign const& campaign, NeededProcesses const& needed) {
  auto const subject = subject_of(campaign);
  if (subject.nightly) return needed.nightlies.contains(*subject.nightly);
  if (!subject.bisection || subject.is_proof) return true;
  return needed.bisections.contains(*subject.bisection);
}

}  // namespace

NeededProcesses needed_processes(storage::Store& store, int raw_nights) {
  NeededProcesses needed;
  std::optional<Timestamp> first;
  auto const nightlies = store.nightlies().all();
  int judged = 0;
  for (auto const& nightly : std::ranges::reverse_view(nightlies)) {
    bool const is_new = judged < raw_nights;
    // A failed nightly is no baseline, and verdicts do not look back at it.
    judged += nightly.state == NightlyState::done ? 1 : 0;
    if (!is_new && is_closed(nightly.state)) continue;
    needed.nightlies.insert(nightly.id);
    first = first ? std::min(*first, nightly.announced_at) : nightly.announced_at;
  }
  for (auto const& incident : store.incidents().all())
    needed.nightlies.insert(incident.nightly);
  for (auto const id : store.bisections().unfinished_or_since(first.value_or(Timestamp{})))
    needed.bisections.insert(id);
  return needed;
}

std::vector<Campaign> deletable_campaigns(std::vector<Campaign> campaigns,
                                          NeededProcesses const& needed) {
  std::erase_if(campaigns, [&](Campaign const& one) { return is_needed(one, needed); });
  return campaigns;
}

asio::awaitable<int> RawDataCleanup::delete_raw_samples() {
  auto const needed = needed_processes(store_, options_.raw_nights);
  int steps = 0;
  int deleted = 0;
  for (auto const& campaign : deletable_campaigns(store_.jobs().campaigns(), needed)) {
    int gone = jobs_a_step;
    while (gone == jobs_a_step && steps++ < most_steps) {
      gone = store_.jobs().remove(campaign, jobs_a_step);
      deleted += gone;
      co_await asio::post(asio::use_awaitable);
    }
  }
  if (deleted > 0) co_await delete_hosts();
  if (deleted > 0) spdlog::info("raw_samples_deleted count={}", deleted);
  co_return deleted;
}

/// Deletes the descriptions of hosts that no process refers to any more.
asio::awaitable<void> RawDataCleanup::delete_hosts() {
  int gone = jobs_a_step;
  for (int step = 0; step < most_steps && gone == jobs_a_step; ++step) {
    gone = store_.jobs().remove_unused_hosts(jobs_a_step);
    co_await asio::post(asio::use_awaitable);
  }
}

}  // namespace torchwatch::measure
