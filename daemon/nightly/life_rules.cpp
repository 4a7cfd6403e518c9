#include "daemon/nightly/life_rules.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace torchwatch::nightly {
namespace {

using Rule = std::optional<Transition> (*)(LifeFacts const&);

bool is_ruled(IncidentState state) {
  return state == IncidentState::accepted || state == IncidentState::false_alarm;
}

std::optional<Transition> opening_of(LifeFacts const& facts) {
  if (facts.is_opened) return std::nullopt;
  return Transition{IncidentEventKind::opened, IncidentState::open};
}

std::optional<Transition> ruling_of(LifeFacts const& facts) {
  if (!facts.ruling) return std::nullopt;
  auto const ruled =
      *facts.ruling == RulingKind::accept ? IncidentState::accepted : IncidentState::false_alarm;
  if (facts.state == ruled) return std::nullopt;
  return Transition{IncidentEventKind::ruled, ruled};
}

std::optional<Transition> return_of(LifeFacts const& facts) {
  if (!facts.has_returned) return std::nullopt;
  return Transition{IncidentEventKind::returned,
                    is_ruled(facts.state) ? facts.state : IncidentState::returned};
}

std::optional<Transition> joining_of(LifeFacts const& facts) {
  if (!facts.has_joined) return std::nullopt;
  return Transition{IncidentEventKind::series_joined, facts.state};
}

std::optional<Transition> correction_of(LifeFacts const& facts) {
  if (!facts.has_correction) return std::nullopt;
  return Transition{IncidentEventKind::answered, facts.state};
}

std::optional<Transition> explanation_of(LifeFacts const& facts) {
  if (!facts.has_results) return std::nullopt;
  bool const is_news = facts.is_explained && facts.state == IncidentState::open;
  return Transition{IncidentEventKind::explained, is_news ? IncidentState::explained : facts.state};
}

std::optional<Transition> recovery_of(LifeFacts const& facts) {
  if (!is_unfinished(facts.state) || facts.series == 0) return std::nullopt;
  if (facts.recovered == facts.series)
    return Transition{IncidentEventKind::fixed, IncidentState::fixed};
  if (!facts.has_recovered || facts.recovered == 0) return std::nullopt;
  return Transition{IncidentEventKind::partly_fixed, IncidentState::partly_fixed};
}

std::optional<Transition> fix_of(LifeFacts const& facts) {
  if (!waits_for_fix(facts.state) || !facts.is_fix_landed) return std::nullopt;
  return Transition{IncidentEventKind::fix_expected, IncidentState::fix_expected};
}

std::optional<Transition> staleness_of(LifeFacts const& facts) {
  if (!is_unfinished(facts.state) || !facts.is_unmeasured || facts.is_stale_noted)
    return std::nullopt;
  return Transition{IncidentEventKind::stale, IncidentState::stale};
}

/// The mean of the logarithms of the cost after divided by the cost before; nothing when a cost is
/// not positive.
std::optional<double> mean_log_ratio(std::vector<bisect::Pair> const& pairs, Metric metric) {
  if (pairs.empty()) return std::nullopt;
  double sum = 0;
  for (auto const& pair : pairs) {
    auto const [before, after] = bisect::cost_of(pair, metric);
    if (!(before > 0) || !(after > 0)) return std::nullopt;
    sum += std::log(after / before);
  }
  return sum / static_cast<double>(pairs.size());
}

bool is_near_level_before(RecoveryScreen const& screen, config::DecideOptions const& options) {
  auto const before = bisect::cost_of(screen.before, screen.metric);
  auto const tonight = bisect::cost_of(screen.tonight, screen.metric);
  return tonight - before <= bisect::tolerance(before, screen.metric, options);
}

bool took_half_the_step_back(RecoveryScreen const& screen) {
  auto const step = mean_log_ratio({{screen.before, screen.during}}, screen.metric);
  auto const back = mean_log_ratio(screen.pairs, screen.metric);
  return step && back && *back <= -*step / 2;
}

/// True when two values of a metric have costs that differ by no more than the tolerance.
bool is_same_level(double one, double other, Metric metric, config::DecideOptions const& options) {
  auto const costs = std::minmax({bisect::cost_of(one, metric), bisect::cost_of(other, metric)});
  return costs.second - costs.first <= bisect::tolerance(costs.first, metric, options);
}

}  // namespace

bool waits_for_fix(IncidentState state) {
  return state == IncidentState::open || state == IncidentState::explained ||
         state == IncidentState::returned;
}

std::optional<Transition> next_transition(LifeFacts const& facts) {
  if (!facts.is_opened && facts.is_held) return std::nullopt;
  constexpr std::array<Rule, 9> rules{opening_of,
                                      ruling_of,
                                      return_of,
                                      joining_of,
                                      correction_of,
                                      explanation_of,
                                      recovery_of,
                                      fix_of,
                                      staleness_of};
  for (auto const rule : rules)
    if (auto const next = rule(facts)) return next;
  return std::nullopt;
}

bool may_be_back(RecoveryScreen const& screen, config::DecideOptions const& options) {
  return is_near_level_before(screen, options) || took_half_the_step_back(screen);
}

config::DecideOptions for_attempt(config::DecideOptions options, std::size_t attempts) {
  auto const attempt = static_cast<double>(attempts) + 1;
  options.miss /= attempt * (attempt + 1);
  return options;
}

bool is_same_step(SeriesChange const& earlier,
                  Comparison const& tonight,
                  config::DecideOptions const& options) {
  auto const metric = earlier.series.metric;
  auto const& before = earlier.comparison;
  if (is_same_level(before.after, tonight.after, metric, options)) return true;
  if (!before.ratio || !tonight.ratio) return false;
  auto const difference = std::abs(std::log(before.ratio->ratio / tonight.ratio->ratio));
  return difference <= std::log1p(bisect::threshold_of(metric, options.threshold));
}

bool have_same_cause(std::vector<Commit> const& suspects, Causes const& earlier) {
  auto const is_in = [](std::vector<CommitSha> const& commits) {
    return [&commits](Commit const& suspect) {
      return std::ranges::find(commits, suspect.sha) != commits.end();
    };
  };
  if (suspects.empty()) return false;
  if (!earlier.culprits.empty()) return std::ranges::any_of(suspects, is_in(earlier.culprits));
  return std::ranges::all_of(suspects, is_in(earlier.range));
}

}  // namespace torchwatch::nightly
