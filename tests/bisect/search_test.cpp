#include "bisect/search/search.h"

#include <cmath>
#include <functional>
#include <random>
#include <set>

#include <gmock/gmock.h>

namespace torchwatch::bisect {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

CommitSha sha_of(std::size_t position) {
  auto const digits = std::to_string(position);
  return {std::string(40 - digits.size(), '0') + digits};
}

/// Costs where every build exists already.
StepCosts at_hand() {
  return {60,
          [](std::size_t) { return 0.0; },
          [](std::size_t) {
            return 1.0;
          }};
}

Series series_of(std::string model, Metric metric = Metric::latency) {
  return {"local", {std::move(model), Test::eval, Device::cpu, "eager"}, metric};
}

/// Suspects of equal weight.
Suspects suspects_of(std::vector<std::size_t> const& numbers) {
  Suspects suspects;
  for (auto const number : numbers)
    suspects.commits.push_back({sha_of(number), "", "", {}, {}});
  suspects.prior.assign(numbers.size(), 1.0);
  return suspects;
}

/// A day of commits with simulated builds. They are numbered from 1, and the last is the end.
class Day {
 public:
  Day(std::size_t commits, std::vector<Series> series) {
    request_.start = sha_of(0);
    request_.end = sha_of(commits);
    request_.series = std::move(series);
    for (std::size_t i = 1; i <= commits; ++i)
      suspects_.push_back({sha_of(i), "Commit " + std::to_string(i), "", {}, {}});
    prior_.assign(commits, 1.0);
  }

  Day& change(std::size_t commit, Series const& series, double ratio) {
    changes_.push_back({commit, series, ratio});
    return *this;
  }

  /// Makes the series 0 before that commit.
  Day& appears(std::size_t commit, Series const& series) {
    return change(commit, series, HUGE_VAL);
  }

  /// Makes commits [first, last] unbuildable.
  Day& breaks(std::size_t first, std::size_t last) {
    for (auto commit = first; commit <= last; ++commit)
      broken_.insert(sha_of(commit));
    return *this;
  }

  Day& cannot_run(std::string model, std::size_t commit) {
    unmeasurable_.emplace(std::move(model), sha_of(commit));
    return *this;
  }

  /// The first process of a benchmark on the build of a commit fails.
  Day& fails_once(std::string model, std::size_t commit) {
    failing_once_.emplace(std::move(model), sha_of(commit));
    return *this;
  }

  /// The build of that commit gives no level of the series.
  Day& lacks(Series const& series, std::size_t commit) {
    lacking_.emplace(series, sha_of(commit));
    return *this;
  }

  Day& direction(Direction direction) {
    request_.direction = direction;
    return *this;
  }

  /// Sets the prior weight of a commit to a twentieth of that of the others.
  Day& unlikely(std::size_t commit) {
    prior_[commit - 1] = 0.05;
    return *this;
  }

  Day& noise(double deviation) {
    noise_ = deviation;
    return *this;
  }

  /// The first process of the build of a commit takes 20% more memory than all others.
  Day& outlying(std::size_t commit) {
    outliers_.insert(commit);
    return *this;
  }

  /// Builds of the commits from `commit` on are this much slower, if made with the first layout.
  Day& layout_matters(std::size_t commit, double ratio) {
    layout_ = {commit, {}, ratio};
    return *this;
  }

  /// Sets the number of layouts in which lone suspects are proved.
  Day& layouts(std::size_t count) {
    layouts_ = count;
    return *this;
  }

  Day& seed(std::uint64_t seed) {
    generator_.seed(seed);
    return *this;
  }

  /// Makes every proof show no change.
  Day& nothing_is_proved() {
    is_provable_ = false;
    return *this;
  }

  Day& run();

  std::vector<Finding> const& findings() const { return findings_; }

  BisectionOutcome outcome() const { return outcome_; }

  std::vector<BisectionStep> const& steps() const { return steps_; }

  /// The steps that were planned after the first proof.
  std::vector<BisectionStep> after_proof() const {
    auto const first = static_cast<std::ptrdiff_t>(proofs_.at(0));
    return {steps_.begin() + first, steps_.end()};
  }

  /// The series whose ends were compared in another layout.
  std::vector<Series> const& confirmed() const { return confirmed_; }

  std::size_t builds() const { return built_.size(); }

 private:
  struct Change {
    std::size_t commit = 0;
    Series series;
    double ratio = 1;
  };

  double truth(Series const& series, std::size_t position) const;
  void take(Search& search, BisectionStep step);
  void take_all(Search& search, StepCosts const& costs);
  double measure(Series const& series, std::size_t position, double pace, std::size_t layout = 0);
  void prove(Search& search, Effect& effect, CommitSha const& culprit, std::size_t layout);
  void prove(Search& search, Finding& finding);
  bool confirm(Search& search);

  BisectionRequest request_;
  std::vector<Commit> suspects_;
  std::vector<double> prior_;
  std::vector<Change> changes_;
  std::set<CommitSha> broken_, built_;
  std::set<std::pair<std::string, CommitSha>> unmeasurable_;
  std::set<std::pair<std::string, CommitSha>> failing_once_;
  std::set<std::pair<Series, CommitSha>> lacking_;
  std::set<std::size_t> outliers_;
  Change layout_{};
  std::size_t layouts_ = 1;
  double noise_ = 0.01;
  bool is_provable_ = true;
  std::mt19937_64 generator_{5};
  std::vector<BisectionStep> steps_;
  std::vector<std::size_t> proofs_;  // steps before each
  std::vector<Series> confirmed_;
  std::vector<Finding> findings_;
  BisectionOutcome outcome_{};
};

double Day::truth(Series const& series, std::size_t position) const {
  double value = is_deterministic(series.metric) ? 1e8 : 100;
  for (auto const& change : changes_) {
    bool const appears = change.series == series && std::isinf(change.ratio);
    if (appears && position < change.commit) return 0;
    if (appears) continue;
    if (change.series == series && change.commit <= position) value *= change.ratio;
  }
  return value;
}

double Day::measure(Series const& series, std::size_t position, double pace, std::size_t layout) {
  double exact = truth(series, position);
  if (layout == 0 && layout_.commit > 0 && position >= layout_.commit) exact *= layout_.ratio;
  if (is_deterministic(series.metric) && outliers_.erase(position) > 0) exact *= 1.2;
  double const off = pace + noise_ * std::normal_distribution<double>{}(generator_);
  return is_deterministic(series.metric) ? exact : exact * std::exp(off);
}

/// Measures a step on a host whose pace changes from round to round.
void Day::take(Search& search, BisectionStep step) {
  double const pace = 0.1 * std::normal_distribution<double>{}(generator_);
  for (auto const& commit : step.commits) {
    std::pair const process{step.benchmark.model, commit};
    bool const runs = !unmeasurable_.contains(process) && failing_once_.erase(process) == 0;
    if (runs && !broken_.contains(commit)) continue;
    step.skipped = commit;
    step.note = runs ? "recipe: exit status 125" : "could not be measured: crashed";
  }
  if (!step.skipped) {
    built_.insert(step.commits.begin(), step.commits.end());
    for (auto const metric : search.metrics_of(step)) {
      bool const is_lacking = std::ranges::any_of(step.commits, [&](CommitSha const& commit) {
        return lacking_.contains({{step.fleet, step.benchmark, metric}, commit});
      });
      if (is_lacking) continue;
      auto& levels = step.readings.emplace_back(MetricLevels{metric, {}}).levels;
      for (auto const& commit : step.commits) {
        Series const series{step.fleet, step.benchmark, metric};
        levels.push_back(measure(series, search.position_of(commit), pace));
      }
    }
  }
  step.is_done = true;
  step.is_unbuilt = step.skipped && broken_.contains(*step.skipped);
  search.learn(step);
  step.beliefs = search.beliefs();
  steps_.push_back(std::move(step));
}

void Day::take_all(Search& search, StepCosts const& costs) {
  while (!search.is_over()) {
    auto const steps = search.next(costs, 1);
    if (steps.empty()) break;
    for (auto const& step : steps)
      take(search, step);
  }
}

/// Compares pairs until there is a verdict.
void Day::prove(Search& search, Effect& effect, CommitSha const& culprit, std::size_t layout) {
  auto const position = search.position_of(culprit);
  config::DecideOptions decide;
  double const ratio = effect.after / effect.before;
  decide.threshold = std::min(decide.threshold, std::sqrt(std::max(ratio, 1 / ratio)) - 1);
  Compare compare{effect.series.metric, decide};
  while (!compare.answer()) {
    double const pace = 0.1 * std::normal_distribution<double>{}(generator_);
    auto const before = measure(effect.series, position - 1, pace, layout);
    compare.add({before, measure(effect.series, position, pace, layout)});
  }
  (layout == 0 ? effect.proof : effect.rebuilt) = compare.answer();
  if (!is_provable_) effect.proof->verdict = Verdict::unchanged;
  search.learn(effect.series, {culprit, "", "", {}, {}}, compare.pairs(), layout);
}

/// Proves a finding in as many layouts as needed.
void Day::prove(Search& search, Finding& finding) {
  proofs_.push_back(steps_.size());
  while (auto const layout = layout_to_compare(finding, layouts_))
    for (auto& effect : finding.effects)
      prove(search, effect, finding.suspects.front().sha, *layout);
  search.explain(finding);
}

/// Compares the ends in another layout. Returns true when there was a series to compare.
bool Day::confirm(Search& search) {
  auto const all = search.to_confirm();
  for (auto const& series : all) {
    Compare compare{series.metric, to_confirm_ends({})};
    while (!compare.answer()) {
      double const pace = 0.1 * std::normal_distribution<double>{}(generator_);
      auto const before = measure(series, 0, pace, 1);
      compare.add({before, measure(series, suspects_.size(), pace, 1)});
    }
    search.learn(series, compare.pairs(), 1);
    confirmed_.push_back(series);
  }
  return !all.empty();
}

Day& Day::run() {
  Search search{request_, {suspects_, prior_}, {}, {}};
  StepCosts const costs{
      60,
      [&](std::size_t position) { return built_.contains(search.commit_at(position)) ? 0 : 600; },
      [](std::size_t) {
        return 0.9;
      }};
  while (true) {
    take_all(search, costs);
    if (layouts_ > 1 && confirm(search)) continue;
    auto found = search.find();
    if (found.empty()) break;
    for (auto& finding : found) {
      if (finding.suspects.size() == 1) prove(search, finding);
      findings_.push_back(std::move(finding));
    }
  }
  outcome_ = search.conclude(findings_);
  return *this;
}

testing::Matcher<Finding> names(std::size_t commit) {
  return Field(&Finding::suspects, ElementsAre(Field(&Commit::sha, sha_of(commit))));
}

TEST(Search, NamesTheCulpritWithItsEffect) {
  Day day{40, {series_of("dlrm")}};
  day.change(17, series_of("dlrm"), 1.15).run();
  EXPECT_EQ(day.outcome(), BisectionOutcome::culprit);
  ASSERT_THAT(day.findings(), ElementsAre(names(17)));
  auto const& effect = day.findings().front().effects.at(0);
  EXPECT_NEAR(effect.after / effect.before, 1.15, 0.03);
  EXPECT_NEAR(effect.share, 1, 0.2);
  EXPECT_GE(effect.probability, 0.97);
  EXPECT_LE(day.builds(), 9U);
}

TEST(Search, BuildsLessWhenFewAreLikely) {
  Day alike{40, {series_of("dlrm")}};
  Day informed{40, {series_of("dlrm")}};
  for (std::size_t commit = 1; commit <= 40; ++commit)
    if (commit != 17 && commit != 30) informed.unlikely(commit);
  for (auto* const day : {&alike, &informed}) {
    day->change(17, series_of("dlrm"), 1.15).run();
    EXPECT_EQ(day->outcome(), BisectionOutcome::culprit);
    EXPECT_THAT(day->findings(), ElementsAre(names(17)));
  }
  EXPECT_LT(informed.builds(), alike.builds());
}

TEST(Search, NamesACulpritThatWasUnlikely) {
  Day day{40, {series_of("dlrm")}};
  day.unlikely(17).change(17, series_of("dlrm"), 1.15).run();
  EXPECT_EQ(day.outcome(), BisectionOutcome::culprit);
  ASSERT_THAT(day.findings(), ElementsAre(names(17)));
  EXPECT_GE(day.findings().front().effects.at(0).probability, 0.97);
}

TEST(Search, NamesNoCommitWhenTheEndsDoNotDiffer) {
  Day day{40, {series_of("dlrm")}};
  day.run();
  EXPECT_EQ(day.outcome(), BisectionOutcome::not_reproduced);
  EXPECT_THAT(day.findings(), IsEmpty());
  EXPECT_LE(day.builds(), 3U);
}

TEST(Search, ConfirmsNoChangeInAnotherLayout) {
  Day day{40, {series_of("dlrm"), series_of("dlrm", Metric::cmem)}};
  day.layouts(2).run();
  EXPECT_EQ(day.outcome(), BisectionOutcome::not_reproduced);
  EXPECT_THAT(day.confirmed(), ElementsAre(series_of("dlrm"))) << "links move no memory";
}

/// The layout makes the build of the end as fast as that of the start.
TEST(Search, DoesNotTakeALuckyBuildForNoChange) {
  for (std::size_t const layouts : {1U, 2U}) {
    Day day{40, {series_of("dlrm")}};
    day.change(17, series_of("dlrm"), 1.15).layout_matters(40, 1 / 1.15).layouts(layouts).run();
    bool const is_fooled = day.outcome() == BisectionOutcome::not_reproduced;
    EXPECT_EQ(is_fooled, layouts == 1);
  }
}

TEST(Search, ConfirmsNothingWhenACommitIsNamed) {
  Day day{40, {series_of("dlrm"), series_of("dcgan")}};
  day.change(17, series_of("dlrm"), 1.15).layouts(2).run();
  EXPECT_EQ(day.outcome(), BisectionOutcome::culprit);
  EXPECT_THAT(day.confirmed(), IsEmpty());
}

TEST(Search, MeasuresTheMetricsOfABenchmarkOnce) {
  auto const latency = series_of("dlrm");
  auto const memory = series_of("dlrm", Metric::cmem);
  Day day{40, {latency, memory}};
  day.change(17, latency, 1.2).change(17, memory, 1.3).run();
  ASSERT_THAT(day.findings(), ElementsAre(names(17)));
  EXPECT_THAT(day.findings().front().effects, SizeIs(2));
  EXPECT_THAT(day.steps().front().readings, SizeIs(2));
}

TEST(Search, SeparatesSeriesThatMovedAtDifferentCommits) {
  Day day{40, {series_of("dlrm"), series_of("dcgan")}};
  day.change(8, series_of("dlrm"), 1.15).change(29, series_of("dcgan"), 1.3).run();
  EXPECT_EQ(day.outcome(), BisectionOutcome::culprit);
  EXPECT_THAT(day.findings(), ElementsAre(names(29), names(8)));
}

TEST(Search, FindsSixAndFour) {
  Day day{40, {series_of("dlrm")}};
  day.change(11, series_of("dlrm"), 1.06).change(30, series_of("dlrm"), 1.04).run();
  EXPECT_EQ(day.outcome(), BisectionOutcome::culprit);
  ASSERT_THAT(day.findings(), ElementsAre(names(11), names(30)));
  EXPECT_NEAR(day.findings()[0].effects[0].share, 0.6, 0.15);
  EXPECT_NEAR(day.findings()[1].effects[0].share, 0.4, 0.15);
}

/// The second change is two standard deviations of a process, and smaller than the threshold.
TEST(Search, FindsSixAndFourThoughProcessesDifferByTwoPercent) {
  constexpr int days = 15;
  int both = 0;
  for (std::uint64_t seed = 1; seed <= days; ++seed) {
    Day day{40, {series_of("dlrm")}};
    day.change(8, series_of("dlrm"), 1.06).change(25, series_of("dlrm"), 1.04);
    day.noise(0.02).seed(seed).run();
    both += testing::Value(day.findings(), testing::UnorderedElementsAre(names(8), names(25)));
    for (auto const& finding : day.findings()) {
      if (!is_culprit(finding)) continue;
      EXPECT_THAT(finding, testing::AnyOf(names(8), names(25))) << "seed " << seed;
    }
  }
  EXPECT_GE(both, 0.6 * days);
}

TEST(Search, SearchesTheRestThatAProofLeaves) {
  Day day{40, {series_of("dlrm")}};
  for (std::size_t const commit : {5U, 18U, 33U})
    day.change(commit, series_of("dlrm"), 1.12);
  day.noise(0.005).run();
  EXPECT_EQ(day.outcome(), BisectionOutcome::culprit);
  EXPECT_THAT(day.findings(), testing::UnorderedElementsAre(names(5), names(18), names(33)));
}

TEST(Search, DistinguishesAnImprovementFromTheCulprit) {
  Day day{40, {series_of("dlrm")}};
  day.change(9, series_of("dlrm"), 0.85).change(26, series_of("dlrm"), 1.4).run();
  EXPECT_EQ(day.outcome(), BisectionOutcome::culprit);
  ASSERT_THAT(day.findings(), ElementsAre(names(26), names(9)));
  EXPECT_LT(day.findings()[1].effects[0].after, day.findings()[1].effects[0].before);
}

TEST(Search, LooksForImprovementsWhenAsked) {
  Day day{40, {series_of("dlrm")}};
  day.change(9, series_of("dlrm"), 0.85).direction(Direction::decrease).run();
  EXPECT_EQ(day.outcome(), BisectionOutcome::culprit);
  EXPECT_THAT(day.findings(), ElementsAre(names(9)));
}

TEST(Search, GivesTheRangeThatDoesNotBuild) {
  Day day{40, {series_of("dlrm")}};
  day.change(17, series_of("dlrm"), 1.2).breaks(15, 20).run();
  EXPECT_EQ(day.outcome(), BisectionOutcome::range);
  ASSERT_THAT(day.findings(), SizeIs(1));
  auto const& suspects = day.findings().front().suspects;
  EXPECT_EQ(suspects.front().sha, sha_of(15));
  EXPECT_EQ(suspects.back().sha, sha_of(21));
  for (std::size_t commit = 15; commit <= 20; ++commit)
    EXPECT_TRUE(std::ranges::any_of(day.steps(), [&](auto const& step) {
      return step.skipped == sha_of(commit) && !step.note.empty();
    })) << commit;
}

TEST(Search, MeasuresElsewhereWhatOnlyOneBenchmarkCannotRun) {
  Day day{4, {series_of("dlrm"), series_of("dcgan")}};
  day.change(2, series_of("dlrm"), 1.3).change(2, series_of("dcgan"), 1.3);
  day.cannot_run("dcgan", 1).run();
  EXPECT_EQ(day.outcome(), BisectionOutcome::range);
  EXPECT_THAT(day.findings(),
              testing::UnorderedElementsAre(names(2), Field(&Finding::suspects, SizeIs(2))));
}

TEST(Search, LeavesNoCommitOutForOneProcessThatFails) {
  Day day{4, {series_of("dlrm")}};
  day.change(2, series_of("dlrm"), 1.3).fails_once("dlrm", 1).fails_once("dlrm", 2).run();
  EXPECT_EQ(day.outcome(), BisectionOutcome::culprit);
  EXPECT_THAT(day.findings(), ElementsAre(names(2)));
}

TEST(Search, TriesABenchmarkTwiceOnACommitThatCannotRunIt) {
  Day day{4, {series_of("dlrm")}};
  day.change(2, series_of("dlrm"), 1.3).cannot_run("dlrm", 2).run();
  EXPECT_EQ(day.outcome(), BisectionOutcome::range);
  EXPECT_EQ(std::ranges::count(day.steps(), sha_of(2), &BisectionStep::skipped), 2);
}

TEST(Search, DropsABenchmarkThatAnEndCannotRun) {
  Day day{8, {series_of("dlrm"), series_of("dcgan")}};
  day.change(3, series_of("dlrm"), 1.3).cannot_run("dcgan", 8).run();
  EXPECT_EQ(day.outcome(), BisectionOutcome::culprit);
  EXPECT_EQ(std::ranges::count_if(day.steps(),
                                  [](auto const& step) { return step.benchmark.model == "dcgan"; }),
            3)
      << "one process may fail";
}

TEST(Search, FindsAChangeNextToACommitThatLacksTheMetric) {
  auto const memory = series_of("dlrm", Metric::gmem);
  Day day{12, {series_of("dlrm"), memory}};
  day.change(4, series_of("dlrm"), 1.3).change(9, memory, 1.3);
  for (auto const commit : {3U, 4U, 6U})
    day.lacks(memory, commit);
  day.run();
  EXPECT_EQ(day.outcome(), BisectionOutcome::culprit);
  EXPECT_THAT(day.findings(), testing::UnorderedElementsAre(names(4), names(9)));
}

TEST(Search, IsOverWithASeriesThatAnEndLacks) {
  auto const memory = series_of("dlrm", Metric::gmem);
  Day day{8, {series_of("dlrm"), memory}};
  day.change(3, series_of("dlrm"), 1.3).lacks(memory, 0).run();
  EXPECT_THAT(day.findings(), ElementsAre(names(3)));
  EXPECT_LE(day.steps().size(), 20U);
}

TEST(Search, FindsMemoryWhereThereWasNone) {
  auto const memory = series_of("dlrm", Metric::gmem);
  Day day{12, {memory}};
  day.appears(5, memory).run();
  EXPECT_EQ(day.outcome(), BisectionOutcome::culprit);
  EXPECT_THAT(day.findings(), ElementsAre(names(5)));
}

TEST(Search, IsLessSureOfWhatNoProofShows) {
  BisectionRequest const request{sha_of(0), sha_of(2), {series_of("dlrm")}};
  Search search{request, suspects_of({1, 2}), {}, {}};
  for (int i = 0; i < 20 && !search.is_over(); ++i) {
    for (auto& step : search.next(at_hand(), 1)) {
      auto& levels = step.readings.emplace_back(MetricLevels{Metric::latency, {}}).levels;
      for (auto const& commit : step.commits)
        levels.push_back((commit == sha_of(0) ? 100 : 115) + 0.1 * i);
      search.learn(step);
    }
  }
  auto found = search.find();
  ASSERT_THAT(found, ElementsAre(names(1)));
  auto& effect = found.front().effects.front();
  ASSERT_GE(effect.probability, 0.99);
  std::vector<Pair> const alike(13, Pair{115, 115.1});
  effect.proof.emplace();
  search.learn(series_of("dlrm"), found.front().suspects.front(), alike);
  search.explain(found.front());
  EXPECT_LT(effect.probability, 0.9);
}

TEST(Search, NamesNoCulpritWithoutProof) {
  Day day{40, {series_of("dlrm")}};
  day.change(17, series_of("dlrm"), 1.15).nothing_is_proved().run();
  EXPECT_EQ(day.outcome(), BisectionOutcome::range);
  ASSERT_THAT(day.findings(), ElementsAre(names(17)));
  EXPECT_FALSE(is_culprit(day.findings().front()));
}

TEST(Search, GivesReasonAndBeliefsOfEachStep) {
  Day day{40, {series_of("dlrm")}};
  day.change(17, series_of("dlrm"), 1.15).run();
  EXPECT_THAT(day.steps().front().reason, HasSubstr("check that the ends differ"));
  EXPECT_THAT(day.steps().at(3).reason, AllOf(HasSubstr("suspects left"), HasSubstr("bits")));
  EXPECT_TRUE(std::ranges::any_of(day.steps(), [](auto const& step) {
    auto const& belief = step.beliefs.at(0);
    return belief.first == sha_of(17) && belief.last == sha_of(17) && belief.probability >= 0.99;
  }));
  for (std::size_t i = 0; i < day.steps().size(); ++i)
    EXPECT_EQ(day.steps()[i].wave, static_cast<int>(i));
}

TEST(Search, StopsWhenAProofLeavesLessThanMatters) {
  constexpr int days = 10;
  for (double const ratio : {1.08, 1.1, 1.15}) {
    std::size_t steps = 0;
    for (std::uint64_t seed = 1; seed <= days; ++seed) {
      Day day{40, {series_of("dlrm")}};
      day.change(17, series_of("dlrm"), ratio).noise(0.03).seed(seed).run();
      EXPECT_EQ(day.outcome(), BisectionOutcome::culprit) << ratio;
      EXPECT_THAT(day.findings(), ElementsAre(names(17))) << ratio;
      steps += day.after_proof().size();
    }
    EXPECT_LE(steps, 8 * days) << ratio;
  }
}

TEST(Search, GivesTheReasonForStepsAfterAProof) {
  Day day{40, {series_of("dlrm")}};
  day.change(8, series_of("dlrm"), 1.06).change(25, series_of("dlrm"), 1.04).noise(0.02).run();
  EXPECT_THAT(day.after_proof(), testing::Not(IsEmpty()));
  for (auto const& step : day.after_proof())
    EXPECT_THAT(step.reason,
                AllOf(HasSubstr("look for another culprit: the proof leaves"),
                      HasSubstr("% of the change unexplained")));
}

TEST(Search, ProvesNoWrongCommitByOneOutlier) {
  auto const memory = series_of("dlrm", Metric::cmem);
  for (std::size_t commit = 1; commit < 40; ++commit) {
    Day day{40, {memory}};
    day.change(17, memory, 1.2).outlying(commit).run();
    EXPECT_EQ(day.outcome(), BisectionOutcome::culprit) << commit;
    EXPECT_THAT(day.findings(), ElementsAre(names(17))) << commit;
  }
}

TEST(Search, ReadsTheBuildsNextToAnExactChangeTwice) {
  auto const memory = series_of("dlrm", Metric::cmem);
  Day day{40, {memory}};
  day.change(17, memory, 1.1).run();
  auto const& steps = day.steps();
  for (std::size_t const commit : {16U, 17U})
    EXPECT_GE(std::ranges::count_if(steps,
                                    [&](auto const& step) {
                                      return std::ranges::count(step.commits, sha_of(commit)) > 0;
                                    }),
              2)
        << commit;
}

TEST(Search, ReportsAChangeOfOnlyOneLayoutAsLayout) {
  Day day{40, {series_of("dlrm")}};
  day.layout_matters(17, 1.15).layouts(2).run();
  EXPECT_EQ(day.outcome(), BisectionOutcome::layout);
  ASSERT_THAT(day.findings(), ElementsAre(names(17)));
  EXPECT_EQ(kind_of(day.findings().front()), FindingKind::layout);
}

TEST(Search, ProvesACulpritInTwoLayouts) {
  Day day{40, {series_of("dlrm")}};
  day.change(17, series_of("dlrm"), 1.15).layouts(2).run();
  EXPECT_EQ(day.outcome(), BisectionOutcome::culprit);
  ASSERT_THAT(day.findings(), ElementsAre(names(17)));
  EXPECT_TRUE(day.findings().front().effects.at(0).rebuilt);
}

TEST(Search, ComparesInOneLayoutWhereThereIsNoOther) {
  Finding finding{{Commit{}}, {Effect{}}};
  EXPECT_EQ(layout_to_compare(finding, 1), 0U);
  EXPECT_EQ(layout_to_compare(finding, 2), 0U);
  finding.effects[0].proof = Comparison{};
  EXPECT_FALSE(layout_to_compare(finding, 2)) << "nothing to prove again";
  finding.effects[0].proof->verdict = Verdict::regression;
  EXPECT_FALSE(layout_to_compare(finding, 1));
  EXPECT_EQ(layout_to_compare(finding, 2), 1U);
  finding.effects[0].rebuilt = finding.effects[0].proof;
  EXPECT_FALSE(layout_to_compare(finding, 2));
  finding.suspects.resize(2);
  EXPECT_FALSE(layout_to_compare(finding, 2));
}

TEST(Search, ReportsManySmallChangesAsGradual) {
  Day day{60, {series_of("dlrm")}};
  for (std::size_t commit = 3; commit <= 60; commit += 6)
    day.change(commit, series_of("dlrm"), 1.015);
  day.noise(0.005).run();
  ASSERT_THAT(day.findings(), SizeIs(1));
  EXPECT_EQ(kind_of(day.findings().front()), FindingKind::gradual);
  EXPECT_GT(day.findings().front().suspects.size(), 40U);
  EXPECT_LE(day.steps().size(), 150U);
}

TEST(Search, EndsForAnyReadings) {
  std::vector<double> const values{std::nan(""), HUGE_VAL, -HUGE_VAL, 0, -1, 5e-324, 1e308, 1e-300};
  std::mt19937_64 random{3};
  for (auto const metric : {Metric::latency, Metric::cmem, Metric::leak}) {
    for (std::size_t trial = 0; trial < 2 * values.size(); ++trial) {
      BisectionRequest const request{sha_of(0), sha_of(9), {series_of("dlrm", metric)}};
      Search search{request, suspects_of({1, 2, 3, 4, 5, 6, 7, 8, 9}), {}, {}};
      std::size_t steps = 0;
      for (auto next = search.next(at_hand(), 1); !next.empty(); next = search.next(at_hand(), 1)) {
        auto& step = next.front();
        auto& levels = step.readings.emplace_back(MetricLevels{metric, {}}).levels;
        for (std::size_t i = 0; i < step.commits.size(); ++i)
          levels.push_back(values[trial < values.size() ? trial : random() % values.size()]);
        search.learn(step);
        ASSERT_LE(++steps, 410U) << trial;
      }
      EXPECT_TRUE(search.is_over());
    }
  }
}

TEST(Search, ContinuesASeriesAfterOneFailedReading) {
  BisectionRequest const request{sha_of(0), sha_of(1), {series_of("dlrm")}};
  Search search{request, suspects_of({1}), {}, {}};
  auto first = search.next(at_hand(), 1).front();
  first.readings = {{Metric::latency, {std::nan(""), 100}}};
  search.learn(first);
  for (int i = 0; i < 8 && !search.is_over(); ++i) {
    auto step = search.next(at_hand(), 1).front();
    step.readings = {{Metric::latency, {100 + 0.1 * i, 120 - 0.1 * i}}};
    search.learn(step);
  }
  EXPECT_THAT(search.find(), ElementsAre(names(1)));
}

TEST(Search, ContinuesABenchmarkAfterOneFailedProcess) {
  BisectionRequest const request{sha_of(0), sha_of(1), {series_of("dlrm")}};
  Search search{request, suspects_of({1}), {}, {}};
  for (int i = 0; i < 12 && !search.is_over(); ++i) {
    auto step = search.next(at_hand(), 1).front();
    if (i == 1)
      step.skipped = sha_of(1);
    else
      step.readings = {{Metric::latency, {100 + 0.1 * i, 120 - 0.1 * i}}};
    search.learn(step);
  }
  EXPECT_THAT(search.find(), ElementsAre(names(1)));
}

TEST(Search, GivesUpABenchmarkThatFailsAgainAndAgain) {
  BisectionRequest const request{sha_of(0), sha_of(1), {series_of("dlrm")}};
  Search search{request, suspects_of({1}), {}, {}};
  auto first = search.next(at_hand(), 1).front();
  first.readings = {{Metric::latency, {100, 120}}};
  search.learn(first);
  int failed = 0;
  for (; failed < 50 && !search.is_over(); ++failed) {
    auto step = search.next(at_hand(), 1).front();
    step.skipped = sha_of(1);
    search.learn(step);
  }
  EXPECT_EQ(failed, 9);
}

/// The way leads from commit 4 back to 2 and on to 9, which does not descend from 3.
TEST(Search, NamesACommitThatTheEndLacks) {
  auto const commit = [](std::size_t number) {
    return Commit{sha_of(number), "", "", {}, {}};
  };
  BisectionRequest const request{sha_of(4), sha_of(9), {series_of("dlrm")}};
  Search search{request, suspects_of({4, 3, 9}), {}, {}};
  search.go_along({commit(3), commit(2), commit(9)}, 2);
  EXPECT_EQ(search.commit_at(2), sha_of(2));
  EXPECT_EQ(search.position_of(sha_of(3)), 1U);
  EXPECT_EQ(search.position_after(sha_of(3)), 2U);
  EXPECT_TRUE(search.is_end(sha_of(4)) && search.is_end(sha_of(9)));
  EXPECT_FALSE(search.is_end(sha_of(2)));

  int read = 0;
  while (read < 200 && !search.is_over()) {
    auto step = search.next(at_hand(), 1).front();
    auto& levels = step.readings.emplace_back(MetricLevels{Metric::latency, {}}).levels;
    for (auto const& built : step.commits)
      levels.push_back((search.position_of(built) < 2 ? 100 : 120) + 0.1 * (read++ % 7));
    search.learn(step);
  }

  auto const findings = search.find();
  ASSERT_THAT(findings, ElementsAre(names(3)));
  EXPECT_EQ(findings.front().missing, 1);
  EXPECT_EQ(search.beliefs().at(0).first, sha_of(3));
}

TEST(Search, ThrowsForStepsOfAnotherSearch) {
  BisectionRequest request{sha_of(0), sha_of(1), {series_of("dlrm")}, 0.07, Direction::increase};
  Search search{request, suspects_of({1}), {}, {}};
  BisectionStep step;
  step.benchmark = series_of("dcgan").benchmark;
  EXPECT_THROW(search.learn(step), std::out_of_range);
  EXPECT_THROW(search.position_of(sha_of(9)), std::out_of_range);
}

}  // namespace
}  // namespace torchwatch::bisect
