#include "daemon/nightly/slot_review.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "bisect/compare/cost.h"
#include "bisect/compare/statistics.h"
#include "daemon/measure/alarm.h"
#include "daemon/measure/job.h"
#include "daemon/nightly/sweep.h"
#include "storage/domain/campaign.h"

namespace torchwatch::nightly {
namespace {

using bisect::SlotFigure;
using bisect::SlotFigures;
using bisect::SlotFinding;
using bisect::SlotRound;

/// The fewest runs of a process whose spread is known.
constexpr std::size_t fewest_runs = 3;

/// The outcomes of each round of a campaign, by round number and benchmark. So rounds of one
/// benchmark are in the order of their numbers.
using Rounds = std::map<std::pair<int, Benchmark>, std::vector<JobOutcome>>;

Rounds rounds_of(storage::Store& store,
                 Campaign const& campaign,
                 std::string const& fleet,
                 int most) {
  Rounds rounds;
  for (auto& job : store.jobs().of(campaign))
    if (job.key.fleet == fleet && job.key.round < most)
      rounds[{job.key.round, job.key.benchmark}].push_back(std::move(job));
  return rounds;
}

/// Returns the relative spread of the runs of a process; nothing for too few runs.
std::optional<double> spread_of_runs(JobOutcome const& outcome, Metric metric) {
  auto const& samples = outcome.values.at(metric).samples;
  if (samples.size() < fewest_runs) return std::nullopt;
  double const middle = bisect::median(samples);
  if (!(middle > 0)) return std::nullopt;
  return bisect::spread(samples) / middle;
}

/// Numbers the units of one night: a benchmark with the commits of its round.
class Units {
 public:
  std::size_t number_of(Benchmark const& benchmark, std::vector<JobOutcome> const& round) {
    std::vector<CommitSha> commits;
    for (auto const& outcome : round)
      commits.push_back(outcome.key.commit);
    std::ranges::sort(commits);
    return numbers_.try_emplace({benchmark, std::move(commits)}, numbers_.size()).first->second;
  }

 private:
  std::map<std::pair<Benchmark, std::vector<CommitSha>>, std::size_t> numbers_;
};

/// Returns the times of a round; nothing when a process failed, or when nothing that it reports has
/// noise.
std::optional<SlotRound> slot_round_of(std::vector<JobOutcome> const& round) {
  if (round.front().values.empty()) return std::nullopt;
  auto const metric = main_metric_of(round.front());
  auto const levels = measure::levels_in(round, metric);
  if (!levels || is_deterministic(metric)) return std::nullopt;
  SlotRound found;
  found.slot = static_cast<std::size_t>(round.front().slot);
  for (double const level : *levels)
    found.costs.push_back(bisect::cost_of(level, metric));
  for (auto const& outcome : round)
    if (auto const spread = spread_of_runs(outcome, metric)) found.run_spreads.push_back(*spread);
  return found;
}

void add_rounds(std::vector<SlotRound>& all, Units& units, Rounds const& rounds) {
  for (auto const& [which, round] : rounds) {
    auto found = slot_round_of(round);
    if (!found) continue;
    found->unit = units.number_of(which.second, round);
    all.push_back(std::move(*found));
  }
}

/// Returns the figure with the larger ratio of the noise within and between processes.
SlotFigure const& noise_of(SlotFigures const& figures) {
  return figures.between.ratio > figures.within.ratio ? figures.between : figures.within;
}

bool is_unfit(SlotFinding finding) {
  return finding == SlotFinding::slow || finding == SlotFinding::noisy;
}

std::optional<double> ratio_of(SlotFigure const& figure) {
  if (figure.units < bisect::fewest_slot_units) return std::nullopt;
  return figure.ratio;
}

/// Returns "10.2% slower than the other slots (40 benchmarks)"; empty for a fit slot.
std::string reason_of(SlotFinding finding, SlotFigures const& figures) {
  if (finding == SlotFinding::slow)
    return fmt::format("{:.1f}% slower than the other slots ({} benchmarks)",
                       100 * (figures.level.ratio - 1),
                       figures.level.units);
  if (finding == SlotFinding::noisy)
    return fmt::format("{:.1f} times as noisy as the other slots ({} benchmarks)",
                       noise_of(figures).ratio,
                       noise_of(figures).units);
  return {};
}

/// The badness of a slot, to quarantine the worst ones first.
double badness_of(SlotFigures const& figures) {
  return std::max(figures.level.ratio, noise_of(figures).ratio);
}

}  // namespace

void SlotReview::run(Nightly const& nightly) {
  for (auto const& fleet : options_.fleets)
    if (fleet.slots > 1) review(nightly, fleet);
}

void SlotReview::review(Nightly const& nightly, config::FleetOptions const& fleet) {
  int const most = options_.decide.sweep_pairs;
  auto const slots = static_cast<std::size_t>(fleet.slots);
  Units units;
  std::vector<SlotRound> rounds;
  add_rounds(rounds, units, rounds_of(store_, Campaign::of(nightly.id), fleet.name, most));
  for (std::size_t slot = 0; slot < slots; ++slot)
    add_rounds(
        rounds, units, rounds_of(store_, Campaign::slot_check(nightly.id, slot), fleet.name, most));
  std::erase_if(rounds, [&](SlotRound const& round) { return round.slot >= slots; });
  auto const figures = bisect::compare_slots(rounds, slots);
  std::vector<Reviewed> all;
  for (std::size_t slot = 0; slot < slots; ++slot)
    all.push_back({slot, figures[slot], finding_on(fleet, slot, figures[slot])});
  // Good slots first, so that those that return make room for others; then the worst.
  std::ranges::stable_sort(all, [](Reviewed const& left, Reviewed const& right) {
    auto const key = [](Reviewed const& one) {
      bool const unfit = is_unfit(one.finding);
      return std::pair{unfit, unfit ? -badness_of(one.figures) : 0.0};
    };
    return key(left) < key(right);
  });
  for (auto const& reviewed : all)
    update(fleet, reviewed);
}

/// Returns the finding about a slot. A quarantined one is good only if its level could be compared,
/// in a fleet where it can be: its noise alone does not show that it is no longer slow.
SlotFinding SlotReview::finding_on(config::FleetOptions const& fleet,
                                   std::size_t slot,
                                   SlotFigures const& figures) const {
  auto const finding = bisect::finding_of(figures);
  auto const slots = static_cast<std::size_t>(fleet.slots);
  bool const lacks_level = slots >= bisect::fewest_slots_of_level && !ratio_of(figures.level);
  if (finding != SlotFinding::good || !lacks_level) return finding;
  bool const is_quarantined = store_.slots().quarantined(fleet.name).contains(slot);
  return is_quarantined ? SlotFinding::unknown : finding;
}

/// Stores the new state of a slot, then sets its alarm. After a kill in between, the review is
/// repeated, because its nightly is not yet swept.
void SlotReview::update(config::FleetOptions const& fleet, Reviewed const& reviewed) {
  auto const& [slot, figures, finding] = reviewed;
  auto const known = store_.slots().find(fleet.name, slot);
  auto const level = ratio_of(figures.level);
  auto const noise = ratio_of(noise_of(figures));
  if (!level && !noise) return;
  auto const use = known ? known->use : SlotUse::in_use;
  SlotState state;
  state.fleet = fleet.name;
  state.slot = slot;
  state.use = use;
  if (finding == SlotFinding::good) state.use = SlotUse::in_use;
  if (is_unfit(finding) && state.use == SlotUse::in_use && may_lose_one(fleet))
    state.use = SlotUse::quarantined;
  state.since = known && known->use == state.use ? known->since : clock_.now();
  state.reason = reason_of(finding, figures);
  bool const stays_unfit = finding == SlotFinding::unknown && known;
  if (stays_unfit) state.reason = known->reason;
  state.benchmarks = std::max(figures.level.units, noise_of(figures).units);
  state.level = level;
  state.noise = noise;
  store_.slots().set(state);
  if (state.use != use)
    spdlog::info("slot_{} slot=\"{}\"", to_string(state.use), slot_subject(fleet.name, slot));
  set_alarm(state, reviewed);
}

void SlotReview::set_alarm(SlotState const& state, Reviewed const& reviewed) {
  bool const is_quarantined = state.use == SlotUse::quarantined;
  Alarm alarm;
  alarm.kind = AlarmKind::slot_unfit;
  alarm.subject = slot_subject(state.fleet, state.slot);
  alarm.raised_at = clock_.now();
  alarm.detail = fmt::format(
      "slot {} of fleet {} is {}; {}; compare its host and device with the others: clock, cooling, "
      "other programs",
      state.slot,
      state.fleet,
      state.reason,
      is_quarantined ? "it measures only check rounds, and returns after a night on which it "
                       "measured well"
                     : "it stays in use, because at least half of the slots do; no verdict is "
                       "wrong, but noise makes nights longer");
  bool const is_over = reviewed.finding == SlotFinding::good || state.reason.empty();
  measure::set_alarm(store_, !is_over, alarm);
}

/// True when another slot of the fleet may be quarantined: at least half of them stay in use.
bool SlotReview::may_lose_one(config::FleetOptions const& fleet) const {
  auto const quarantined = store_.slots().quarantined(fleet.name).size();
  return 2 * (quarantined + 1) <= static_cast<std::size_t>(fleet.slots);
}

}  // namespace torchwatch::nightly
