#include "tests/years/search.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>

#include <fmt/format.h>

#include "bisect/search/search.h"
#include "daemon/measure/job.h"
#include "tests/years/verdicts.h"

namespace torchwatch::years {
namespace {

constexpr double seconds_a_reading = 60;
constexpr double seconds_a_build = 1500;
constexpr std::size_t slots = 2;
constexpr std::size_t layouts = 2;

config::BisectOptions options_of(Patience patience) {
  config::BisectOptions options;
  options.max_readings = patience.readings;
  return options;
}

/// As bisection::Proof has it: what half of an effect is, is a change.
double threshold_for(Finding const& finding, double threshold) {
  for (auto const& effect : finding.effects)
    if (effect.before > 0 && effect.after > 0) {
      double const ratio = effect.after / effect.before;
      threshold = std::min(threshold, std::sqrt(std::max(ratio, 1 / ratio)) - 1);
    }
  return threshold;
}

/// One bisection on its way.
class Investigator {
 public:
  Investigator(Bisection bisection, Truth const& truth, Patience patience, Surroundings around)
      : truth_{truth},
        patience_{patience},
        processes_{around.processes},
        texts_{around.texts},
        at_{around.at},
        chance_{around.chance},
        campaigns_{bisection.id, bisection.recipe},
        search_{bisection.request,
                truth.commits,
                std::vector<double>(truth.commits.size(), 1.0),
                {},
                options_of(patience)} {
    done_.bisection = std::move(bisection);
  }

  CarriedOut carry_out() &&;

 private:
  bool do_waves();
  void do_step(BisectionStep& step);
  bool is_built(CommitSha const& commit);
  void measure(BisectionStep& step);
  void prove(Finding& finding);
  void prove_in(std::size_t layout, Finding& finding);
  void check_revert(Finding& finding);
  std::vector<SeriesChange> compare(Finding& finding,
                                    std::vector<Runner> const& pair,
                                    std::size_t layout,
                                    bool is_proof);
  Runner build_of(Campaign campaign, CommitSha const& commit, std::size_t layout) const;
  double level_at(TrueSeries const& one, std::size_t position, std::size_t layout) const;
  Measured const& benchmark_of(std::string const& fleet, Benchmark const& benchmark) const;
  std::size_t place_of(Series const& series) const;
  bisect::StepCosts costs() const;
  void keep(std::vector<JobOutcome> outcomes);

  Truth const& truth_;
  Patience patience_;
  Processes const& processes_;
  Texts const& texts_;
  Timestamp at_;
  Chance& chance_;
  BisectionCampaigns campaigns_;
  bisect::Search search_;
  std::map<std::size_t, bool> tried_;  // by position: whether it was built
  CarriedOut done_;
};

bisect::StepCosts Investigator::costs() const {
  return {
      seconds_a_reading,
      [this](std::size_t position) { return tried_.contains(position) ? 0.0 : seconds_a_build; },
      [this](std::size_t position) {
        auto const known = tried_.find(position);
        if (known == tried_.end()) return 0.95;
        return known->second ? 1.0 : 0.0;
      }};
}

double Investigator::level_at(TrueSeries const& one,
                              std::size_t position,
                              std::size_t layout) const {
  double level = level_of(one, truth_.night);
  if (truth_.is_layout && layout > 0) return level;
  for (auto const& cause : truth_.causes)
    for (auto const& moved : cause.moved)
      if (&processes_.suite().series[moved.series] == &one && truth_.position_of(cause) <= position)
        level = level * moved.factor + moved.added;
  return grained(one.series.metric, level);
}

Runner Investigator::build_of(Campaign campaign,
                              CommitSha const& commit,
                              std::size_t layout) const {
  auto const position = search_.position_of(commit);
  return {std::move(campaign),
          commit,
          "2.11.0a0+git" + commit.hex.substr(0, 7),
          [this, position, layout](TrueSeries const& one) {
            return level_at(one, position, layout);
          }};
}

Measured const& Investigator::benchmark_of(std::string const& fleet,
                                           Benchmark const& benchmark) const {
  return *std::ranges::find_if(processes_.suite().benchmarks, [&](Measured const& one) {
    return one.which.fleet == fleet && one.which.benchmark == benchmark;
  });
}

std::size_t Investigator::place_of(Series const& series) const {
  auto const& all = processes_.suite().series;
  auto const found = std::ranges::find(all, series, &TrueSeries::series);
  return static_cast<std::size_t>(found - all.begin());
}

void Investigator::keep(std::vector<JobOutcome> outcomes) {
  std::ranges::move(outcomes, std::back_inserter(done_.outcomes));
}

/// Builds it, if nobody has tried before.
bool Investigator::is_built(CommitSha const& commit) {
  auto const position = search_.position_of(commit);
  auto const [known, is_new] = tried_.try_emplace(position, !truth_.unbuildable.contains(position));
  if (!is_new) return known->second;
  storage::BuildRecord record;
  record.commit = commit;
  record.recipe = done_.bisection.recipe;
  record.finished_at = at_;
  record.is_incremental = tried_.size() > 1;
  record.seconds = record.is_incremental ? chance_.between(240, 1300) : chance_.between(2900, 4100);
  if (known->second) {
    record.prefix = fmt::format("{}-{}", commit.hex, record.recipe.value);
  } else {
    record.state = storage::BuildState::unbuildable;
    record.note = texts_.of(
        fmt::format("recipe: exit status 125, see logs/build-{}.log: "
                    "aten/src/ATen/native/cpu/Activation.cpp:214: error: 'Vectorized' was not "
                    "declared in this scope",
                    commit.hex),
        chance_);
  }
  done_.builds.push_back(std::move(record));
  return known->second;
}

void Investigator::measure(BisectionStep& step) {
  std::vector<Runner> builds;
  for (auto const& commit : step.commits)
    builds.push_back(build_of(campaigns_.commits(), commit, 0));
  auto const ordinal = static_cast<int>(done_.bisection.steps.size());
  auto outcomes =
      processes_.round(benchmark_of(step.fleet, step.benchmark), builds, ordinal, {at_}, chance_);
  for (auto const metric : search_.metrics_of(step))
    if (auto levels = measure::levels_in(outcomes, metric))
      step.readings.push_back({metric, std::move(*levels)});
  keep(std::move(outcomes));
}

void Investigator::do_step(BisectionStep& step) {
  step.is_done = true;
  for (auto const& commit : step.commits) {
    if (is_built(commit)) continue;
    step.skipped = commit;
    step.is_unbuilt = true;
    step.note = std::ranges::find(done_.builds, commit, &storage::BuildRecord::commit)->note;
  }
  if (!step.skipped) measure(step);
}

/// False when patience ended first.
bool Investigator::do_waves() {
  auto& all = done_.bisection.steps;
  while (!search_.is_over()) {
    auto wave = search_.next(costs(), slots);
    if (wave.empty()) break;
    bool const is_last = wave.front().wave >= patience_.waves;
    auto const first = all.size();
    for (auto& step : wave) {
      if (!is_last) do_step(step);
      step.reason = texts_.of(std::move(step.reason), chance_);
      all.push_back(std::move(step));
    }
    if (is_last) return false;
    for (auto at = first; at < all.size(); ++at)
      search_.learn(all[at]);
    for (auto at = first; at < all.size(); ++at)
      all[at].beliefs = search_.beliefs();
  }
  return true;
}

/// On all series of a finding, benchmark by benchmark.
std::vector<SeriesChange> Investigator::compare(Finding& finding,
                                                std::vector<Runner> const& pair,
                                                std::size_t layout,
                                                bool is_proof) {
  std::vector<SeriesChange> changes;
  double const threshold = threshold_for(finding, done_.bisection.request.threshold);
  for (auto const& effect : finding.effects) {
    auto const& [fleet, benchmark, metric] = effect.series;
    Question const question{
        benchmark_of(fleet, benchmark), {place_of(effect.series)}, pair, {at_}, threshold};
    auto answered = answer(processes_, question, chance_);
    if (is_proof)
      search_.learn(effect.series, finding.suspects.front(), answered.pairs.front(), layout);
    changes.push_back(answered.changes.front());
    keep(std::move(answered.outcomes));
  }
  return changes;
}

void Investigator::prove_in(std::size_t layout, Finding& finding) {
  auto const& suspect = finding.suspects.front().sha;
  auto const parent = search_.commit_at(search_.position_of(suspect) - 1);
  auto const campaign = layout == 0 ? campaigns_.proof(suspect) : campaigns_.rebuilt_proof(suspect);
  auto const changes =
      compare(finding,
              {build_of(campaign, parent, layout), build_of(campaign, suspect, layout)},
              layout,
              true);
  for (std::size_t i = 0; i < changes.size(); ++i)
    (layout == 0 ? finding.effects[i].proof : finding.effects[i].rebuilt) = changes[i].comparison;
}

void Investigator::check_revert(Finding& finding) {
  auto const& culprit = finding.suspects.front().sha;
  auto const& end = done_.bisection.request.end;
  if (culprit == end) {
    finding.no_revert_check = "it is the newest commit: its parent shows what a revert gives";
    return;
  }
  if (chance_.happens(0.15)) {
    finding.no_revert_check =
        texts_.of("git revert: conflict in aten/src/ATen/native/cpu/Activation.cpp", chance_);
    return;
  }
  auto const campaign = campaigns_.revert_check(culprit);
  auto newest = build_of(campaign, end, 0);
  auto reverted = newest;
  std::ranges::reverse(reverted.commit.hex);  // a commit of our own, that nobody else has
  reverted.level = [this, suspect = search_.position_of(culprit), whole = newest.level](
                       TrueSeries const& one) {
    double const ratio = level_at(one, suspect - 1, 0) / std::max(1.0, level_at(one, suspect, 0));
    return grained(one.series.metric, whole(one) * ratio);
  };
  auto const changes = compare(finding, {std::move(newest), std::move(reverted)}, 0, false);
  for (std::size_t i = 0; i < changes.size(); ++i)
    finding.effects[i].revert_check = changes[i].comparison;
}

void Investigator::prove(Finding& finding) {
  while (auto const layout = bisect::layout_to_compare(finding, layouts))
    prove_in(*layout, finding);
  if (finding.suspects.size() == 1) search_.explain(finding);
  if (is_culprit(finding)) check_revert(finding);
}

CarriedOut Investigator::carry_out() && {
  auto& bisection = done_.bisection;
  is_built(bisection.request.start);
  is_built(bisection.request.end);
  while (true) {
    if (!do_waves()) return std::move(done_);
    auto found = search_.find();
    if (found.empty()) break;
    for (auto& finding : found) {
      prove(finding);
      bisection.findings.push_back(std::move(finding));
    }
  }
  bisection.outcome = search_.conclude(bisection.findings);
  bisection.state = BisectionState::done;
  return std::move(done_);
}

}  // namespace

std::size_t Truth::position_of(Cause const& cause) const {
  return 1 + static_cast<std::size_t>(cause.place * static_cast<double>(commits.size()));
}

CarriedOut carry_out(Bisection bisection,
                     Truth const& truth,
                     Patience patience,
                     Surroundings around) {
  return Investigator{std::move(bisection), truth, patience, around}.carry_out();
}

}  // namespace torchwatch::years
