// Fortnights with many failures, in which the service is killed before writes to the database.

#include "tests/nightly/fortnight.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <functional>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>

#include "daemon/cli/check_result.h"
#include "tests/fakes/memory/executioner.h"
#include "tests/fakes/memory/world.h"
#include "tests/lab/dice.h"

namespace torchwatch::nightly {
namespace {

using testing::HasSubstr;

/// A regression that was found: the date of its incident's nightly, and the name of its series.
using Found = std::pair<std::string, std::string>;

Series series_of(PlantedRegression const& planted) {
  return {"local", {planted.model, Test::eval, Device::cpu, "eager"}, planted.metric};
}

/// The expected results of the nightlies, from the plan alone.
class Expectations {
 public:
  /// Adds the next nightly. Returns the names of the series in which its incident must find
  /// regressions.
  std::set<std::string> take(PlannedNight const& night) {
    for (auto const& planted : night.regressions)
      unfound_.insert(series_of(planted));
    std::set<std::string> found;
    for (auto const& series : unfound_)
      if (!is_hidden(night, series)) found.insert(name_of(series));
    std::erase_if(unfound_, [&](Series const& series) { return found.contains(name_of(series)); });
    for (auto const& name : found)
      all_.emplace_back(night.date, name);
    return found;
  }

  static bool is_failed(PlannedNight const& night) {
    return night.is_unbuildable || night.failing.size() == planned_models().size();
  }

  /// True when no nightly could show some planted regression yet.
  bool has_unfound() const { return !unfound_.empty(); }

  /// All that must have been found, in the order of `Found`.
  std::vector<Found> all() const {
    auto sorted = all_;
    std::ranges::sort(sorted);
    return sorted;
  }

 private:
  static bool is_hidden(PlannedNight const& night, Series const& series) {
    auto const& model = series.benchmark.model;
    bool const is_undecided = series.metric == Metric::latency && night.undecided.contains(model);
    return is_failed(night) || night.failing.contains(model) || is_undecided;
  }

  std::set<Series> unfound_;
  std::vector<Found> all_;
};

/// Returns how many writes the service makes before it is killed again.
using Lifespan = std::function<int()>;

constexpr int never = 1'000'000;

/// A service that judges planned nightlies, is killed before writes, and continues.
class Survivor {
 public:
  Survivor(std::vector<PlannedNight> plan, double noise, Lifespan lifespan)
      : plan_{std::move(plan)},
        noise_{noise},
        lifespan_{std::move(lifespan)},
        world_{plan_.back().commit + 1} {
    for (auto const& night : plan_)
      for (auto const& planted : night.regressions)
        world_.change(planted.commit, planted.model, planted.ratio, planted.metric);
    begin_life();
  }

  /// Judges all nightlies, and checks the result of each.
  void live() {
    for (tonight_ = 0; tonight_ < plan_.size() && !testing::Test::HasFailure(); ++tonight_)
      judge(plan_[tonight_]);
    EXPECT_FALSE(expectations_.has_unfound()) << where();
    EXPECT_EQ(found(), expectations_.all()) << "all of them, each once\n" << where();
    expect_reports();
  }

  int kills() const { return static_cast<int>(kills_.size()); }

 private:
  void judge(PlannedNight const& night) {
    world_.release(night.date, night.commit);
    begin(night);
    for (int attempt = 0; attempt < most_attempts; ++attempt) {
      auto const passed = pass();
      auto const result = result_of(passed);
      if (passed) {
        expect_end(night, result);
        return;
      }
      EXPECT_EQ(result.status, cli::could_not_run) << where();
      EXPECT_EQ(result.problem, passed.error().message) << where();
      recover();
    }
    ADD_FAILURE() << "not judged after " << most_attempts << " passes\n" << where();
  }

  void expect_end(PlannedNight const& night, cli::CheckResult const& result) {
    auto const newest = world_.newest();
    EXPECT_EQ(newest.date, night.date) << where();
    bool const is_failed = Expectations::is_failed(night);
    EXPECT_EQ(newest.state, is_failed ? NightlyState::failed : NightlyState::done)
        << newest.failure << '\n'
        << where();
    auto const expected = expectations_.take(night);
    EXPECT_EQ(found_on(newest.id), expected) << where();
    if (!is_failed) return expect_status(night, result, !expected.empty());
    EXPECT_EQ(result.status, cli::could_not_run) << where();
    EXPECT_THAT(result.problem, HasSubstr("nightly failed")) << where();
  }

  /// Checks a nightly that was judged.
  void expect_status(PlannedNight const& night, cli::CheckResult const& result, bool has_found) {
    bool const is_incomplete = !night.failing.empty() || has_undecided();
    auto const without_incident = is_incomplete ? cli::could_not_run : cli::nothing_found;
    EXPECT_EQ(result.status, has_found ? cli::incident_found : without_incident)
        << result.problem << '\n'
        << where();
    bool const is_hiding = expectations_.has_unfound();
    EXPECT_FALSE(is_hiding && result.status == cli::nothing_found) << where();
    bool const names_series = result.problem.find("did not judge") != std::string::npos;
    EXPECT_EQ(names_series, result.status == cli::could_not_run) << where();
  }

  void expect_reports() {
    std::set<std::string> reports;
    auto const incidents = world_.parts->store.incidents().all();
    for (auto const& incident : incidents) {
      EXPECT_TRUE(std::filesystem::exists(incident.report)) << where();
      reports.insert(incident.report);
    }
    EXPECT_EQ(reports.size(), incidents.size()) << where();
  }

  /// A pass that goes on after each kill.
  Result<> pass() {
    while (true) {
      try {
        return world_.pass();
      } catch (std::exception const& end) {
        bool const is_killed = std::string_view{end.what()}.find("killed") != std::string::npos;
        if (!is_killed || kills() == most_kills)
          throw std::runtime_error{std::string{end.what()} + '\n' + where()};
      }
      restart();
    }
  }

  /// Restarts the service. Hosts, and the remaining failures of recipes, outlive it.
  void restart() {
    written_ += granted_ - executioner_->left();
    kills_.push_back(written_);
    executioner_->grant(never);
    executioner_.reset();
    auto const failures_left = world_.parts->builder.failures_left;
    auto const of_builder = world_.parts->builder.host_failure;
    auto const of_rounds = world_.parts->rounds.host_failure;
    world_.restart();
    world_.parts->builder.failures_left = failures_left;
    world_.parts->builder.host_failure = of_builder;
    world_.parts->rounds.host_failure = of_rounds;
    begin_life();
  }

  void begin_life() {
    script();
    executioner_.emplace(world_.folder.path() / "torchwatch.sqlite");
    granted_ = lifespan_();
    executioner_->grant(granted_);
  }

  void begin(PlannedNight const& night) {
    script();
    for (auto const commit : night.fails_once)
      world_.parts->builder.failures_left[world_.sha(commit)] = 1;
    world_.parts->builder.host_failure.reset();
    world_.parts->rounds.host_failure.reset();
    if (night.no_recipe_starts)
      world_.parts->builder.host_failure =
          Error{ErrorCode::unavailable, "recipe: fork: Resource temporarily unavailable", true};
    if (night.rounds_until_no_worker_starts)
      world_.parts->rounds.host_failure = fakes::ScriptedRounds::HostFailure{
          *night.rounds_until_no_worker_starts, "socketpair: Too many open files"};
  }

  /// An hour later the host can do again what it could not.
  void recover() {
    world_.parts->builder.host_failure.reset();
    auto& of_rounds = world_.parts->rounds.host_failure;
    if (of_rounds && of_rounds->rounds_left < 0) of_rounds.reset();
    world_.clock.time += std::chrono::hours{1};
  }

  /// Sets what does not change while a nightly is judged.
  void script() {
    auto& rounds = world_.parts->rounds;
    rounds.noise = noise_;
    rounds.failures.clear();
    for (std::size_t i = 0; i <= tonight_; ++i)
      script(plan_[i], i == tonight_);
    rounds.finish = without_times(plan_[tonight_]);
  }

  void script(PlannedNight const& night, bool is_tonight) {
    auto const& commit = world_.sha(night.commit);
    for (auto const& [model, error] : night.failing)
      if (is_tonight || error == JobError::crashed)
        world_.parts->rounds.failures[{model, commit}] = error;
    if (night.is_unbuildable) world_.parts->builder.broken.insert(commit);
  }

  /// Makes comparisons of a nightly lack times of some models, although its sweep had them.
  std::function<void(JobOutcome&, Build const&)> without_times(PlannedNight const& night) const {
    return [models = night.undecided, commit = world_.sha(night.commit)](JobOutcome& outcome,
                                                                         Build const& build) {
      auto const& key = outcome.key;
      bool const is_late = key.round >= 2 && key.campaign.name.starts_with("nightly/");
      if (is_late && build.manifest.commit == commit && models.contains(key.benchmark.model))
        outcome.values.erase(Metric::latency);
    };
  }

  cli::CheckResult result_of(Result<> const& passed) {
    auto const judgement = cli::newest_judgement(world_.parts->store,
                                                 world_.options,
                                                 cli::judged_nightlies(world_.parts->store),
                                                 world_.clock.now());
    return cli::result_of(passed, judgement, world_.options.feed.path);
  }

  bool has_undecided() {
    auto const verdicts = world_.parts->store.incidents().verdicts(world_.newest().id);
    return std::ranges::any_of(verdicts, [](SeriesChange const& change) {
      return change.comparison.verdict == Verdict::inconclusive;
    });
  }

  std::set<std::string> found_on(NightlyId nightly) {
    std::set<std::string> names;
    for (auto const& incident : world_.parts->store.incidents().all_of_nightly(nightly))
      for (auto const& change : incident.changes)
        if (nightly_of(incident, change.series) == nightly) names.insert(name_of(change.series));
    return names;
  }

  /// Returns the nightly that confirmed a series of an incident.
  static NightlyId nightly_of(Incident const& incident, Series const& series) {
    auto const later = std::ranges::find(incident.later_series, series, &IncidentSeries::series);
    return later == incident.later_series.end() ? incident.nightly : later->nightly;
  }

  std::vector<Found> found() {
    std::vector<Found> all;
    auto& store = world_.parts->store;
    for (auto const& incident : store.incidents().all())
      for (auto const& change : incident.changes) {
        auto const nightly = store.nightlies().find(nightly_of(incident, change.series)).value();
        all.emplace_back(nightly.date, name_of(change.series));
      }
    std::ranges::sort(all);
    return all;
  }

  std::string where() const {
    auto const night = std::min(tonight_, plan_.size() - 1);
    return fmt::format("night {}; killed after these writes of all: {}",
                       plan_[night].date,
                       fmt::join(kills_, ", "));
  }

  static constexpr int most_attempts = 8;
  static constexpr int most_kills = 1000;

  std::vector<PlannedNight> plan_;
  double noise_;
  Lifespan lifespan_;
  fakes::World world_;
  std::optional<fakes::Executioner> executioner_;
  Expectations expectations_;
  std::size_t tonight_ = 0;
  int granted_ = 0;
  int written_ = 0;         ///< in all lives before
  std::vector<int> kills_;  ///< total number of writes at each kill
};

constexpr int seeds_a_shard = 10;
constexpr std::size_t fortnight = 14;

/// Up to ten seeds of a hundred: those from ten times the parameter on.
class FortnightTest : public testing::TestWithParam<int> {
 protected:
  /// Lives of up to 800 writes. A nightly without an incident needs about a hundred, one with an
  /// incident several hundred.
  static Lifespan seeded_lives(std::uint64_t seed) {
    constexpr std::size_t longest = 800;
    return [dice = lab::Dice{seed}]() mutable {
      return static_cast<int>(dice.below(longest));
    };
  }
};

TEST_P(FortnightTest, FindsEachRegressionOnTheFirstNightThatShowsIt) {
  constexpr double noise = 0.002;
  int kills = 0;
  for (int i = 0; i < fakes::of_ten_seeds; ++i) {
    auto const seed = static_cast<std::uint64_t>(seeds_a_shard * GetParam() + i);
    SCOPED_TRACE("seed " + std::to_string(seed));
    Survivor survivor{plan_nights(seed, fortnight), noise, seeded_lives(seed)};
    survivor.live();
    ASSERT_FALSE(HasFailure());
    kills += survivor.kills();
  }
  EXPECT_GT(kills, 2 * fakes::of_ten_seeds) << "several in each fortnight";
}

INSTANTIATE_TEST_SUITE_P(TenSeeds, FortnightTest, testing::Range(0, 10));

/// True for three nightlies as follows. On the second, a model fails and its memory regresses. On
/// the third, the recipe fails once, and after a few rounds no worker can start.
bool has_one_of_each(std::vector<PlannedNight> const& plan) {
  auto const& second = plan.at(1);
  auto const& third = plan.at(2);
  bool const is_planted = second.regressions.size() == 1 && third.regressions.empty();
  if (!is_planted || second.is_unbuildable || second.failing.size() != 1) return false;
  auto const& planted = second.regressions.front();
  constexpr int few = 4;
  return planted.metric == Metric::cmem && second.failing.contains(planted.model) &&
         third.fails_once.contains(third.commit) &&
         third.rounds_until_no_worker_starts.value_or(few) < few;
}

std::uint64_t seed_with_one_of_each() {
  for (std::uint64_t seed = 0; seed < 1'000'000; ++seed)
    if (has_one_of_each(plan_nights(seed, 3))) return seed;
  throw std::runtime_error{"no seed has one of each trouble; were the rates changed?"};
}

TEST(ShortFortnightTest, ComesToTheSameEndWhereverItWasCutOff) {
  auto const seed = seed_with_one_of_each();
  fakes::KillPoints const points;
  SCOPED_TRACE(fmt::format(
      "seed {}, before one write in {} from {} on", seed, points.stride(), points.first()));
  bool was_killed = true;
  int lives = 0;
  for (int writes = points.first(); was_killed; writes += points.stride()) {
    Survivor survivor{plan_nights(seed, 3), 0, [writes, life = 0]() mutable {
                        return life++ == 0 ? writes : never;
                      }};
    survivor.live();
    ASSERT_FALSE(HasFailure()) << "after " << writes << " writes";
    was_killed = survivor.kills() > 0;
    ++lives;
  }
  EXPECT_GT(lives, 100 / points.stride());
}

}  // namespace
}  // namespace torchwatch::nightly
