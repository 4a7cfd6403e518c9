#include "finders.h"

#include <algorithm>
#include <cmath>
#include <ctime>
#include <deque>
#include <map>

#include "two_samples.h"
#include <fmt/format.h>

#include "bisect/compare/compare.h"
#include "bisect/search/build_variation.h"
#include "bisect/search/search.h"
#include "bisect/search/search_state.h"

namespace torchwatch::bench {
namespace {

constexpr double seconds_a_build = 3600;
constexpr double seconds_a_run = 60;

constexpr auto fleet = "fleet";

/// Processor time, which does not depend on the load of the host.
double milliseconds_since(std::clock_t began) {
  return 1000.0 * static_cast<double>(std::clock() - began) / CLOCKS_PER_SEC;
}

Found ask(Commits& commits, bisect::Capacity capacity) {
  auto const& day = commits.day();
  std::vector<bisect::SeriesQuery> asked;
  for (std::size_t series = 0; series < day.series; ++series)
    asked.push_back({{}, series});
  bisect::SearchState inquiry{std::vector<double>(day.commits, 1.0), asked, {}};
  bisect::StepCosts const costs{
      seconds_a_run,
      [&](std::size_t position) { return commits.is_built(position) ? 0 : seconds_a_build; },
      [](std::size_t) {
        return 1.0;
      }};
  Found found;
  for (std::size_t round = 0;; ++found.rounds) {
    auto const began = std::clock();
    auto const probes = inquiry.next(costs, capacity);
    if (probes.empty()) break;
    for (auto const& probe : probes) {
      std::vector<bisect::Reading> readings;
      for (auto const position : probe.positions)
        readings.push_back(
            {position, round, std::log(commits.run(probe.benchmark, position, round))});
      inquiry.add(probe.benchmark, readings);
      ++round;
    }
    found.milliseconds.push_back(milliseconds_since(began));
  }
  found.is_unchanged = true;
  found.stated = 1;
  for (std::size_t series = 0; series < day.series; ++series) {
    auto const answer = inquiry.answer(series).value();
    found.stated *= answer.probability;
    found.is_unchanged = found.is_unchanged && answer.kind == bisect::Answer::Kind::unchanged;
    found.is_open = found.is_open || answer.kind == bisect::Answer::Kind::open;
    if (answer.kind == bisect::Answer::Kind::gradual) {
      found.is_gradual = true;
      found.first = answer.changes.front().first;
      found.last = answer.changes.front().last;
    }
    if (answer.kind == bisect::Answer::Kind::changed)
      for (auto const& change : answer.changes)
        found.steps.push_back({series, change.first, std::exp(change.size)});
  }
  return found;
}

std::vector<bisect::Pair> pairs_in(std::size_t layout, Commits& commits) {
  constexpr std::size_t pairs = 13;
  std::vector<bisect::Pair> measured;
  for (std::size_t round = 0; round < pairs; ++round)
    measured.push_back(
        {commits.run(0, 0, round, layout), commits.run(0, commits.day().commits, round, layout)});
  return measured;
}

/// The variation of builds, from one proof in two layouts on each of `proofs` other days.
BuildVariation variation_from(std::size_t proofs, Commits const& commits) {
  std::vector<bisect::BuildDifference> differences;
  for (std::size_t i = 1; i <= proofs; ++i) {
    Commits earlier{commits.day(), commits.seed() + i * 1'000'000};
    auto const difference = bisect::difference_of(pairs_in(0, earlier), pairs_in(1, earlier));
    if (difference) differences.push_back(*difference);
  }
  BuildVariation variation;
  if (auto const noise = bisect::build_variation(differences)) variation[fleet] = *noise;
  return variation;
}

/// A bisection of a day's commits. Each series has its own benchmark.
class Searched {
 public:
  Searched(Commits& commits, std::size_t layouts, BuildVariation builds)
      : commits_{commits},
        layouts_{layouts},
        search_{
            request(), {suspects(), std::vector<double>(count(), 1.0)}, {}, {}, std::move(builds)} {
  }

  Found find() {
    std::vector<Finding> findings;
    while (true) {
      take_steps();
      if (confirm()) continue;
      auto fresh = search_.find();
      if (fresh.empty()) break;
      for (auto& finding : fresh) {
        while (auto const layout = bisect::layout_to_compare(finding, layouts_))
          prove(finding, *layout);
        if (finding.suspects.size() == 1) search_.explain(finding);
        findings.push_back(std::move(finding));
      }
    }
    conclude(findings);
    return std::move(found_);
  }

 private:
  std::size_t count() const { return commits_.day().commits; }

  static CommitSha sha_of(std::size_t position) { return {fmt::format("{:040}", position)}; }

  static Series series_of(std::size_t series) {
    return {fleet, {std::to_string(series), Test::eval, Device::cpu, "eager"}, Metric::latency};
  }

  static std::size_t number_of(Benchmark const& benchmark) { return std::stoul(benchmark.model); }

  BisectionRequest request() const {
    BisectionRequest request{sha_of(0), sha_of(count()), {}};
    for (std::size_t i = 0; i < commits_.day().series; ++i)
      request.series.push_back(series_of(i));
    return request;
  }

  std::vector<Commit> suspects() const {
    std::vector<Commit> all;
    for (std::size_t i = 1; i <= count(); ++i)
      all.push_back({sha_of(i), "", "", {}, {}});
    return all;
  }

  void take_steps() {
    bisect::StepCosts const costs{
        seconds_a_run,
        [&](std::size_t position) { return commits_.is_built(position) ? 0 : seconds_a_build; },
        [](std::size_t) {
          return 1.0;
        }};
    while (true) {
      auto const began = std::clock();
      auto steps = search_.next(costs, 1);
      if (steps.empty()) break;
      for (auto& step : steps)
        take(step);
      found_.milliseconds.push_back(milliseconds_since(began));
    }
  }

  void take(BisectionStep& step) {
    auto& levels = step.readings.emplace_back(MetricLevels{Metric::latency, {}}).levels;
    for (auto const& commit : step.commits)
      levels.push_back(
          commits_.run(number_of(step.benchmark), search_.position_of(commit), round_));
    ++round_;
    step.is_done = true;
    search_.learn(step);
  }

  /// Measures pairs until they decide, like bisection::Proof.
  void prove(Finding& finding, std::size_t layout) {
    auto const position = search_.position_of(finding.suspects.front().sha);
    for (auto& effect : finding.effects) {
      config::DecideOptions decide;
      double const ratio = effect.after / effect.before;
      decide.threshold = std::min(decide.threshold, std::sqrt(std::max(ratio, 1 / ratio)) - 1);
      bisect::Compare compare{effect.series.metric, decide};
      while (!compare.answer()) {
        auto const series = number_of(effect.series.benchmark);
        double const before = commits_.run(series, position - 1, round_, layout);
        compare.add({before, commits_.run(series, position, round_++, layout)});
      }
      (layout == 0 ? effect.proof : effect.rebuilt) = compare.answer();
      search_.learn(effect.series, finding.suspects.front(), compare.pairs(), layout);
    }
  }

  /// Measures the ends in another layout, like bisection::Bisector. Returns true if there were any.
  bool confirm() {
    auto const all = layouts_ > 1 ? search_.to_confirm() : std::vector<Series>{};
    for (auto const& series : all) {
      bisect::Compare compare{series.metric, bisect::to_confirm_ends({})};
      auto const number = number_of(series.benchmark);
      while (!compare.answer()) {
        double const before = commits_.run(number, 0, round_, 1);
        compare.add({before, commits_.run(number, count(), round_++, 1)});
      }
      search_.learn(series, compare.pairs(), 1);
    }
    return !all.empty();
  }

  void conclude(std::vector<Finding>& findings) {
    auto const outcome = search_.conclude(findings);
    found_.is_unchanged = outcome == BisectionOutcome::not_reproduced;
    found_.is_layout = outcome == BisectionOutcome::layout;
    for (auto const& finding : findings) {
      auto const first = search_.position_of(finding.suspects.front().sha) - 1;
      if (finding.is_gradual) {
        found_.is_gradual = true;
        found_.first = first;
        found_.last = first + finding.suspects.size() - 1;
      }
      if (finding.suspects.size() == 1) name(finding, first);
    }
    found_.is_open = found_.steps.empty() && !found_.is_unchanged && !found_.is_gradual;
    found_.stated = stated(findings);
  }

  void name(Finding const& finding, std::size_t suspect) {
    bool const is_guess = kind_of(finding) == FindingKind::range;
    for (auto const& effect : finding.effects) {
      Step const step{number_of(effect.series.benchmark), suspect, 1};
      if (is_proved(effect)) found_.steps.push_back(step);
      if (is_guess) found_.guesses.push_back(step);
    }
  }

  /// The probability that all proofs are right, or that there is no change.
  double stated(std::vector<Finding> const& findings) const {
    double sure = 1;
    if (found_.is_unchanged)
      for (auto const& belief : search_.beliefs())
        sure = std::min(sure, belief.no_change);
    for (auto const& finding : findings)
      for (auto const& effect : finding.effects)
        if (is_proved(effect)) sure = std::min(sure, effect.probability);
    return found_.is_gradual ? 0 : sure;
  }

  Commits& commits_;
  std::size_t layouts_;
  bisect::Search search_;
  std::size_t round_ = 0;
  Found found_;
};

Found bisect_by_median(Commits& commits) {
  constexpr int runs = 5;
  auto const last = commits.day().commits;
  double const middle = (commits.truth(0, 0) + commits.truth(0, last)) / 2;
  std::size_t good = 0;
  std::size_t bad = last;
  while (bad - good > 1) {
    auto const position = (good + bad) / 2;
    Values values;
    for (int run = 0; run < runs; ++run)
      values.push_back(commits.run(0, position));
    (median(values) > middle ? bad : good) = position;
  }
  Found found;
  found.steps = {{0, good, 1}};
  return found;
}

/// Runs each commit once and remembers the value.
class Once {
 public:
  explicit Once(Commits& commits) : commits_{commits} {}

  double operator()(std::size_t position) {
    auto const [found, is_new] = values_.try_emplace(position);
    if (is_new) found->second = commits_.run(0, position);
    return found->second;
  }

 private:
  Commits& commits_;
  std::map<std::size_t, double> values_;
};

Found bisect_like_torchbench(Commits& commits) {
  constexpr double threshold = 0.07;
  Once once{commits};
  Found found;
  std::deque<std::pair<std::size_t, std::size_t>> ranges{{0, commits.day().commits}};
  while (!ranges.empty()) {
    auto const [left, right] = ranges.front();
    ranges.pop_front();
    if (once(right) / once(left) - 1 < threshold) continue;
    if (right - left == 1) {
      found.steps.push_back({0, left, 1});
      continue;
    }
    auto const middle = (left + right) / 2;
    ranges.emplace_back(left, middle);
    ranges.emplace_back(middle, right);
  }
  found.is_unchanged = found.steps.empty();
  return found;
}

Found find_like_asv(Commits& commits) {
  Once once{commits};
  std::size_t left = 0;
  std::size_t right = commits.day().commits;
  while (right - left > 1) {
    auto const middle = (left + right) / 2;
    bool const is_left = std::abs(once(middle) - once(left)) > std::abs(once(right) - once(middle));
    (is_left ? right : left) = middle;
  }
  Found found;
  found.steps = {{0, left, 1}};
  return found;
}

/// The number of runs in Pinpoint's tables, approximated by a power. `expected` is the change to
/// find, divided by the interquartile range of the noise.
int runs_of_pinpoint(double expected, double share) {
  return std::max(10, static_cast<int>(std::ceil(share * 30 * std::pow(expected, -1.45))));
}

/// Pinpoint's thresholds. Its source also computes relaxed ones. With those, it stops measuring a
/// difference after about this share of the runs.
struct Pinpoint {
  double significance = 0.01;
  double runs = 1;
};

constexpr Pinpoint relaxed{0.05, 0.58};

Found find_like_pinpoint(Commits& commits, Pinpoint const& rules) {
  constexpr double quartiles =
      1.349;  // distance of the quartiles of a standard normal distribution
  auto const last = commits.day().commits;
  double const change = std::log(commits.truth(0, last) / commits.truth(0, 0));
  constexpr double usual_change = 0.0953;
  int const runs = runs_of_pinpoint(
      (change > 0 ? change : usual_change) / quartiles / commits.day().noise, rules.runs);
  std::map<std::size_t, Values> values;
  auto const measure = [&](std::size_t position) {
    while (values[position].size() < static_cast<std::size_t>(runs))
      values[position].push_back(commits.run(0, position));
  };
  measure(0);
  measure(last);
  Found found;
  std::deque<std::pair<std::size_t, std::size_t>> ranges{{0, last}};
  while (!ranges.empty()) {
    auto const [left, right] = ranges.front();
    ranges.pop_front();
    auto const& before = values[left];
    auto const& after = values[right];
    if (std::min(mann_whitney(before, after), kolmogorov_smirnov(before, after)) >
        rules.significance)
      continue;
    if (right - left == 1) {
      found.steps.push_back({0, left, 1});
      continue;
    }
    auto const middle = (left + right) / 2;
    measure(middle);
    ranges.emplace_back(left, middle);
    ranges.emplace_back(middle, right);
  }
  found.is_unchanged = found.steps.empty();
  return found;
}

}  // namespace

Finder torchwatch(std::size_t slots) {
  auto const name = slots == 1 ? "torchwatch" : "torchwatch, " + std::to_string(slots) + " slots";
  return {name, [slots](Commits& commits) {
            return ask(commits, {slots, 1});
          }};
}

Finder torchwatch_in_pairs() {
  return {"torchwatch, in pairs", [](Commits& commits) {
            return ask(commits, {1, 2});
          }};
}

Finder torchwatch_proving(std::size_t layouts, std::size_t proofs) {
  auto const name = std::string{"torchwatch, "} + (layouts > 1 ? "2 layouts" : "proved") +
                    (proofs > 0 ? ", measured" : "");
  return {name, [layouts, proofs](Commits& commits) {
            return Searched{commits, layouts, variation_from(proofs, commits)}.find();
          }};
}

std::vector<Finder> peers() {
  return {{"git bisect run", bisect_by_median},
          {"TorchBench", bisect_like_torchbench},
          {"asv find", find_like_asv},
          {"Pinpoint",
           [](Commits& commits) {
             return find_like_pinpoint(commits, {});
           }},
          {"Pinpoint, relaxed", [](Commits& commits) {
             return find_like_pinpoint(commits, relaxed);
           }}};
}

}  // namespace torchwatch::bench
