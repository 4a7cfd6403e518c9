#include "bisect/search/search.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

namespace torchwatch::bisect {

namespace {

/// The number of builds that take turns in a round. Two show a difference, and disturb each other
/// least.
constexpr std::size_t together = 2;

/// Suspects of a gap with a smaller probability do not count as suspects that are left.
constexpr double least_suspicion = 0.01;

/// The number of processes of a build that must report the same value of an exact metric.
constexpr int agreeing = 2;

/// A series is dropped after more failures than this.
constexpr std::size_t most_failures = 8;

/// The number of tries of a benchmark on a build that it never ran on and that is not an end.
constexpr int most_tries = 2;

/// One failure of an end that was never measured counts as this many. The third one drops the
/// series.
constexpr std::size_t of_an_end = most_failures / 2;

using Benchmarks = std::vector<std::pair<std::string, Benchmark>>;

Benchmarks benchmarks_in(BisectionRequest const& request) {
  Benchmarks benchmarks;
  for (auto const& [fleet, benchmark, metric] : request.series) {
    std::pair const one{fleet, benchmark};
    if (std::ranges::count(benchmarks, one) == 0) benchmarks.push_back(one);
  }
  return benchmarks;
}

std::size_t index_of(Benchmarks const& benchmarks, std::string const& fleet, Benchmark const& one) {
  auto const found = std::ranges::find(benchmarks, std::pair{fleet, one});
  if (found == benchmarks.end())
    throw std::out_of_range{"search has no benchmark " + name_of(one) + " on fleet " + fleet};
  return static_cast<std::size_t>(found - benchmarks.begin());
}

/// Adds the measured difference between builds, for metrics that it affects.
Expectation with_builds(Expectation expectation,
                        BuildVariation const& builds,
                        std::string const& fleet) {
  auto const measured = builds.find(fleet);
  if (expectation.builds_differ > 0 && measured != builds.end())
    expectation.builds_measured = measured->second;
  return expectation;
}

std::vector<SeriesQuery> queries_in(BisectionRequest const& request,
                                    config::DecideOptions const& decide,
                                    BuildVariation const& builds) {
  auto const benchmarks = benchmarks_in(request);
  std::vector<SeriesQuery> queries;
  for (auto const& [fleet, benchmark, metric] : request.series)
    queries.push_back(
        {with_builds(Scale{metric, request.threshold, decide}.expectation(request.direction),
                     builds,
                     fleet),
         index_of(benchmarks, fleet, benchmark),
         is_deterministic(metric) ? agreeing : 1});
  return queries;
}

/// The commit of each position of a search in which every suspect is the child of the one before.
std::vector<CommitSha> commits_of(CommitSha const& start, std::vector<Commit> const& suspects) {
  std::vector<CommitSha> commits{start};
  for (auto const& suspect : suspects)
    commits.push_back(suspect.sha);
  return commits;
}

/// The number of suspects that may have made a change.
std::size_t suspects_in(Belief const& belief) {
  std::size_t left = 0;
  for (std::size_t gap = 0; gap < belief.gaps(); ++gap)
    if (belief.changed_in(gap) > least_suspicion)
      left += belief.positions[gap + 1] - belief.positions[gap];
  return left;
}

std::size_t likeliest_gap(Belief const& belief) {
  std::size_t best = 0;
  for (std::size_t gap = 1; gap < belief.gaps(); ++gap)
    if (belief.changed_in(gap) > belief.changed_in(best)) best = gap;
  return best;
}

template <class Key, class Value>
std::vector<Value> just_values(std::map<Key, Value> map) {
  std::vector<Value> values;
  values.reserve(map.size());
  for (auto& [key, value] : map)
    values.push_back(std::move(value));
  return values;
}

}  // namespace

std::optional<std::size_t> layout_to_compare(Finding const& finding, std::size_t layouts) {
  if (finding.suspects.size() > 1) return std::nullopt;
  bool const is_compared = std::ranges::all_of(
      finding.effects, [](Effect const& effect) { return effect.proof.has_value(); });
  if (!is_compared) return 0;
  bool const can_be_layout = std::ranges::any_of(finding.effects, [](Effect const& effect) {
    return !effect.rebuilt && !is_deterministic(effect.series.metric);
  });
  bool const goes_on = layouts > 1 && is_culprit(finding) && can_be_layout;
  return goes_on ? std::optional<std::size_t>{1} : std::nullopt;
}

config::DecideOptions to_confirm_ends(config::DecideOptions decide) {
  constexpr int enough = 6;
  decide.max_pairs = std::min(decide.max_pairs, enough);
  return decide;
}

Search::Search(BisectionRequest const& request,
               Suspects suspects,
               config::DecideOptions const& decide,
               config::BisectOptions const& options,
               BuildVariation builds)
    : commits_{commits_of(request.start, suspects.commits)},
      suspects_{std::move(suspects.commits)},
      direction_{request.direction},
      builds_{std::move(builds)},
      confidence_{options.confidence},
      benchmarks_{benchmarks_in(request)},
      state_{std::move(suspects.prior),
             queries_in(request, decide, builds_),
             {options.confidence, static_cast<std::size_t>(options.max_readings)}} {
  for (auto const& series : request.series)
    lines_.push_back({series,
                      index_of(benchmarks_, series.fleet, series.benchmark),
                      Scale{series.metric, request.threshold, decide}});
}

void Search::go_along(std::vector<Commit> const& builds, std::size_t missing) {
  commits_ = commits_of(commits_.front(), builds);
  missing_ = missing;
}

CommitSha const& Search::commit_at(std::size_t position) const {
  return commits_.at(position);
}

std::size_t Search::position_of(CommitSha const& commit) const {
  auto const found = std::ranges::find(commits_, commit);
  if (found == commits_.end()) throw std::out_of_range{"search has no commit " + commit.hex};
  return static_cast<std::size_t>(found - commits_.begin());
}

std::size_t Search::position_after(CommitSha const& suspect) const {
  auto const found = std::ranges::find(suspects_, suspect, &Commit::sha);
  if (found == suspects_.end()) throw std::out_of_range{"search has no suspect " + suspect.hex};
  return static_cast<std::size_t>(found - suspects_.begin()) + 1;
}

bool Search::is_end(CommitSha const& commit) const {
  return commit == commits_.front() || commit == commits_.back();
}

std::vector<Metric> Search::metrics_of(BisectionStep const& step) const {
  std::vector<Metric> metrics;
  for (auto const series : series_of(index_of(benchmarks_, step.fleet, step.benchmark)))
    metrics.push_back(lines_[series].series.metric);
  return metrics;
}

std::vector<BisectionStep> Search::next(StepCosts const& costs, std::size_t slots) const {
  std::vector<BisectionStep> steps;
  for (auto const& measurement : state_.next(costs, {slots, together})) {
    auto& step = steps.emplace_back();
    step.wave = waves_;
    step.fleet = benchmarks_[measurement.benchmark].first;
    step.benchmark = benchmarks_[measurement.benchmark].second;
    for (auto const position : measurement.positions)
      step.commits.push_back(commit_at(position));
    step.reason = reason_for(measurement);
  }
  return steps;
}

std::string Search::reason_for(Measurement const& measurement) const {
  bool const are_ends =
      measurement.positions.front() == 0 && measurement.positions.back() == suspects_.size();
  if (measurement.information == 0)
    return are_ends ? "check that the ends differ"
                    : "repeat builds that decide the answer: one process may be an outlier";
  return fmt::format("{}; expected information gain {:#.2g} bits in {:.0f} s",
                     purpose_of(measurement),
                     measurement.information / std::numbers::ln2,
                     measurement.seconds);
}

/// The reason to measure, from the series of the benchmark that have no answer yet.
std::string Search::purpose_of(Measurement const& measurement) const {
  std::size_t left = 0;
  SearchedSeries const* rest = nullptr;
  for (auto const series : series_of(measurement.benchmark)) {
    if (state_.answer(series)) continue;
    left = std::max(left, suspects_in(state_.belief(series)));
    if (!lines_[series].explained.empty()) rest = &lines_[series];
  }
  if (rest == nullptr) return fmt::format("{} of {} suspects left", left, suspects_.size());
  return "look for another culprit: the proof leaves " + rest->rest() + " unexplained";
}

bool Search::is_over() const {
  for (std::size_t i = 0; i < lines_.size(); ++i)
    if (!state_.answer(i)) return false;
  return true;
}

bool Search::is_unchanged() const {
  for (std::size_t i = 0; i < lines_.size(); ++i) {
    auto const answer = state_.answer(i);
    if (!answer || answer->kind != Answer::Kind::unchanged) return false;
  }
  return true;
}

std::vector<double> Search::changed() const {
  std::vector<double> changed(suspects_.size());
  for (std::size_t i = 0; i < lines_.size(); ++i) {
    auto const& belief = state_.belief(i);
    for (std::size_t gap = 0; gap < belief.gaps(); ++gap) {
      auto const begin = belief.positions[gap];
      auto const end = belief.positions[gap + 1];
      for (auto suspect = begin; suspect < end; ++suspect)
        changed[suspect] += belief.changed_in(gap) / static_cast<double>(end - begin);
    }
  }
  return changed;
}

void Search::learn(BisectionStep const& step) {
  waves_ = std::max(waves_, step.wave + 1);
  auto const benchmark = index_of(benchmarks_, step.fleet, step.benchmark);
  auto const series = series_of(benchmark);
  if (!step.skipped) {
    for (auto const one : series)
      read(one, step);
    ++rounds_;
    return;
  }
  auto const position = position_of(*step.skipped);
  bool const was_measured =
      std::ranges::any_of(series, [&](std::size_t one) { return is_measured(one, position); });
  bool const may_run = was_measured && !step.is_unbuilt;
  if (may_run || is_end(*step.skipped)) {
    for (auto const one : series)
      note_failures(one, may_run ? 1 : of_an_end);
  } else if (step.is_unbuilt) {
    state_.skip(position);
  } else if (++failures_[{benchmark, position}] == most_tries) {
    state_.skip(position, benchmark);
  }
}

std::vector<std::size_t> Search::series_of(std::size_t benchmark) const {
  std::vector<std::size_t> series;
  for (std::size_t i = 0; i < lines_.size(); ++i)
    if (lines_[i].benchmark == benchmark) series.push_back(i);
  return series;
}

void Search::read(std::size_t series, BisectionStep const& step) {
  auto& line = lines_[series];
  auto const found = std::ranges::find(step.readings, line.series.metric, &MetricLevels::metric);
  std::vector<Reading> readings;
  if (found != step.readings.end())
    for (std::size_t i = 0; i < std::min(found->levels.size(), step.commits.size()); ++i)
      readings.push_back(
          {position_of(step.commits[i]), rounds_, line.scale.level(found->levels[i])});
  auto const failed = std::erase_if(readings, std::not_fn(is_usable));
  if (!readings.empty()) state_.add(series, readings);
  if (readings.empty() && failed == 0) skip_unmeasured(series, step.commits);
  note_failures(series, failed);
}

/// Counts failures of a series, and drops it when they are too many.
void Search::note_failures(std::size_t series, std::size_t count) {
  auto& failures = lines_[series].failures;
  failures += count;
  if (failures > most_failures) state_.drop(series);
}

bool Search::is_measured(std::size_t series, std::size_t position) const {
  auto const& belief = state_.belief(series);
  auto const at = std::ranges::find(belief.positions, position) - belief.positions.begin();
  return at < std::ssize(belief.positions) && belief.readings[static_cast<std::size_t>(at)] > 0;
}

/// Skips the builds of a step without levels for which the series has no reading. An end cannot be
/// skipped, so the series is dropped. If all builds have readings, the step counts as a failure.
void Search::skip_unmeasured(std::size_t series, std::vector<CommitSha> const& commits) {
  bool is_any_new = false;
  for (auto const& commit : commits) {
    auto const position = position_of(commit);
    if (is_measured(series, position)) continue;
    is_any_new = true;
    if (is_end(commit))
      state_.drop(series);
    else
      state_.skip_in(series, position);
  }
  if (!is_any_new) note_failures(series, 1);
}

void Search::learn(Series const& series,
                   Commit const& suspect,
                   std::vector<Pair> const& pairs,
                   std::size_t layout) {
  auto const position = position_after(suspect.sha);
  read_pairs(number_of(series), {position - 1, position}, pairs, layout);
}

bool Search::names_no_commit(std::size_t series) const {
  auto const answer = state_.answer(series);
  return answer && lines_[series].explained.empty() &&
         (answer->kind == Answer::Kind::unchanged || answer->kind == Answer::Kind::gradual);
}

std::vector<Series> Search::to_confirm() const {
  if (!found_.empty()) return {};
  std::vector<Series> rest;
  for (std::size_t i = 0; i < lines_.size(); ++i) {
    if (!names_no_commit(i)) return {};
    auto const& [fleet, benchmark, metric] = lines_[i].series;
    auto const measured = builds_.find(fleet);
    bool const is_known = measured != builds_.end() && measured->second > 0;
    bool const may_differ = !is_deterministic(metric) && !is_known;
    if (may_differ && !lines_[i].is_confirmed) rest.push_back(lines_[i].series);
  }
  return rest;
}

void Search::learn(Series const& series, std::vector<Pair> const& pairs, std::size_t layout) {
  auto const number = number_of(series);
  lines_[number].is_confirmed = true;
  read_pairs(number, {0, suspects_.size()}, pairs, layout);
}

void Search::read_pairs(std::size_t series,
                        std::pair<std::size_t, std::size_t> positions,
                        std::vector<Pair> const& pairs,
                        std::size_t layout) {
  auto const& scale = lines_[series].scale;
  std::vector<Reading> readings;
  for (auto const& pair : pairs) {
    readings.push_back({positions.first, rounds_, scale.level(pair.before), layout});
    readings.push_back({positions.second, rounds_, scale.level(pair.after), layout});
    ++rounds_;
  }
  std::erase_if(readings, std::not_fn(is_usable));
  state_.add(series, readings);
}

std::vector<SeriesBelief> Search::beliefs() const {
  std::vector<SeriesBelief> beliefs;
  for (std::size_t i = 0; i < lines_.size(); ++i) {
    auto const& belief = state_.belief(i);
    auto const gap = likeliest_gap(belief);
    beliefs.push_back({lines_[i].series,
                       belief.no_change(),
                       suspects_[belief.positions[gap]].sha,
                       suspects_[belief.positions[gap + 1] - 1].sha,
                       std::min(1.0, belief.changed_in(gap))});  // a rounded sum may exceed 1
  }
  return beliefs;
}

std::vector<Finding> Search::find() {
  std::map<std::pair<Span, bool>, Finding> findings;
  for (std::size_t i = 0; i < lines_.size(); ++i) {
    auto const answer = state_.answer(i);
    if (!answer || answer->kind == Answer::Kind::open) continue;
    bool const is_gradual = answer->kind == Answer::Kind::gradual;
    auto& line = lines_[i];
    if (is_gradual && std::exchange(line.is_gradual, true)) continue;  // only its span changed
    if (!answer->changes.empty()) line.note_total(*answer);
    for (auto const& [span, effect] : line.effects_of(*answer)) {
      if (!found_.emplace(i, span).second) continue;
      auto& finding = findings[{span, is_gradual}];
      finding.is_gradual = is_gradual;
      add_to(finding, span, effect);
    }
  }
  auto all = just_values(std::move(findings));
  std::ranges::stable_sort(
      all, std::ranges::greater{}, [this](Finding const& finding) { return size_of(finding); });
  return all;
}

void Search::add_to(Finding& finding, Span span, Effect const& effect) const {
  if (finding.suspects.empty()) {
    finding.suspects.assign(suspects_.begin() + static_cast<std::ptrdiff_t>(span.first),
                            suspects_.begin() + static_cast<std::ptrdiff_t>(span.second) + 1);
    auto const lacking = std::clamp(missing_, span.first, span.second + 1) - span.first;
    finding.missing = static_cast<int>(lacking);
  }
  finding.effects.push_back(effect);
}

/// The probability after all readings that the suspect, or one in the same gap, changed the series.
double Search::belief_in(std::size_t series, std::size_t suspect) const {
  auto const& belief = state_.belief(series);
  auto const after = std::ranges::upper_bound(belief.positions, suspect);
  auto const gap = static_cast<std::size_t>(after - belief.positions.begin()) - 1;
  return belief.changed_in(gap);
}

void Search::explain(Finding& finding) {
  auto const suspect = position_after(finding.suspects.front().sha) - 1;
  for (auto& effect : finding.effects) {
    auto const series = number_of(effect.series);
    auto& line = lines_[series];
    double const belief = belief_in(series, suspect);
    effect.is_doubted = effect.rebuilt && is_proved(effect) && belief < confidence_;
    line.is_layout = is_layout(effect);
    if (!is_proved(effect)) {
      effect.probability = belief;
      state_.drop(series);
      continue;
    }
    line.explain(suspect, effect);
    auto const rest = with_builds(line.scale.rest(*line.total), builds_, line.series.fleet);
    state_.explain(series, suspect, rest, line.scale.threshold());
  }
}

/// The series without an answer, except those with a layout change and those with a proven change.
std::vector<std::size_t> Search::open_series() const {
  std::vector<std::size_t> open;
  for (std::size_t i = 0; i < lines_.size(); ++i) {
    auto const answer = state_.answer(i);
    bool const is_open = !answer || answer->kind == Answer::Kind::open;
    if (is_open && !lines_[i].is_layout && lines_[i].explained.empty()) open.push_back(i);
  }
  return open;
}

/// The likeliest changes of the series in `open` whose ends were read.
std::vector<Finding> Search::guesses(std::vector<std::size_t> const& open) const {
  std::map<Span, Finding> guesses;
  for (auto const i : open) {
    auto const& readings = state_.belief(i).readings;
    bool const is_reported = lines_[i].is_gradual;
    if (is_reported || readings.front() == 0 || readings.back() == 0) continue;
    for (auto const& [span, effect] : lines_[i].effects_of(state_.likeliest(i)))
      if (!found_.contains({i, span})) add_to(guesses[span], span, effect);
  }
  return just_values(std::move(guesses));
}

void Search::set_shares(Finding& finding) const {
  for (auto& effect : finding.effects) {
    if (!is_proved(effect)) continue;
    auto const series = number_of(effect.series);
    lines_[series].set_share(effect, state_.likeliest(series));
  }
}

BisectionOutcome Search::conclude(std::vector<Finding>& findings) const {
  std::ranges::for_each(findings, [this](Finding& finding) { set_shares(finding); });
  auto const open = open_series();
  for (auto& guess : guesses(open))
    findings.push_back(std::move(guess));
  std::ranges::stable_sort(findings, std::ranges::greater{}, [this](Finding const& finding) {
    return std::pair{is_wanted(finding), size_of(finding)};
  });
  auto const wanted = std::ranges::count_if(
      findings, [this](Finding const& finding) { return is_wanted(finding); });
  auto const proved = std::ranges::count_if(findings, [this](Finding const& finding) {
    return is_wanted(finding) && is_culprit(finding);
  });
  if (wanted > 0 && proved == wanted) return BisectionOutcome::culprit;
  if (!open.empty() && proved == 0) return BisectionOutcome::undecided;
  if (wanted > 0) return BisectionOutcome::range;
  bool const is_layout = std::ranges::any_of(
      findings, [](Finding const& finding) { return kind_of(finding) == FindingKind::layout; });
  return is_layout ? BisectionOutcome::layout : BisectionOutcome::not_reproduced;
}

std::size_t Search::number_of(Series const& series) const {
  auto const found = std::ranges::find(lines_, series, &SearchedSeries::series);
  return static_cast<std::size_t>(found - lines_.begin());
}

SearchedSeries const& Search::line_of(Series const& series) const {
  return lines_[number_of(series)];
}

double Search::size_of(Finding const& finding) const {
  double largest = 0;
  for (auto const& effect : finding.effects)
    largest = std::max(largest, std::abs(line_of(effect.series).size_of(effect)));
  return largest;
}

bool Search::is_wanted(Finding const& finding) const {
  if (kind_of(finding) == FindingKind::layout) return false;
  return std::ranges::any_of(finding.effects, [this](Effect const& effect) {
    double const size = line_of(effect.series).size_of(effect);
    return direction_ == Direction::both || (direction_ == Direction::increase) == (size > 0);
  });
}

}  // namespace torchwatch::bisect
