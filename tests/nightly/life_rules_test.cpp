#include "daemon/nightly/life_rules.h"

#include <array>
#include <cmath>
#include <cstddef>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "bisect/compare/compare.h"
#include "tests/bisect/host.h"

namespace torchwatch::nightly {
namespace {

using Kind = IncidentEventKind;
using State = IncidentState;

/// An incident with two series that was opened.
LifeFacts opened(State state = State::open) {
  LifeFacts facts;
  facts.state = state;
  facts.is_opened = true;
  facts.series = 2;
  return facts;
}

constexpr std::array all_states{State::open,
                                State::explained,
                                State::fix_expected,
                                State::fixed,
                                State::partly_fixed,
                                State::returned,
                                State::accepted,
                                State::false_alarm,
                                State::stale};

TEST(NextTransition, OpensFirst_UnlessTheCauseOfAnEarlierIncidentIsPossible) {
  LifeFacts facts;
  facts.ruling = RulingKind::accept;
  EXPECT_EQ(next_transition(facts), (Transition{Kind::opened, State::open}));
  facts.is_held = true;
  EXPECT_EQ(next_transition(facts), std::nullopt);
}

TEST(NextTransition, IsNothingWithoutNews) {
  for (auto const state : all_states)
    EXPECT_EQ(next_transition(opened(state)), std::nullopt) << to_string(state);
}

TEST(NextTransition, ExplainsAnOpenIncidentAlone) {
  auto facts = opened();
  facts.has_results = true;
  EXPECT_EQ(next_transition(facts), (Transition{Kind::explained, State::open}));
  facts.is_explained = true;
  EXPECT_EQ(next_transition(facts), (Transition{Kind::explained, State::explained}));
  facts.state = State::partly_fixed;
  EXPECT_EQ(next_transition(facts), (Transition{Kind::explained, State::partly_fixed}));
}

TEST(NextTransition, IsFixedWhenAllSeriesAreBack_AndPartlyBefore) {
  for (auto const state : {State::open,
                           State::explained,
                           State::fix_expected,
                           State::partly_fixed,
                           State::returned,
                           State::stale}) {
    auto facts = opened(state);
    facts.has_recovered = true;
    facts.recovered = 1;
    EXPECT_EQ(next_transition(facts), (Transition{Kind::partly_fixed, State::partly_fixed}));
    facts.recovered = 2;
    EXPECT_EQ(next_transition(facts), (Transition{Kind::fixed, State::fixed}));
  }
}

TEST(NextTransition, IsFixedThoughTheNightlyAlreadyHasAnEvent) {
  auto facts = opened(State::partly_fixed);
  facts.recovered = 2;
  EXPECT_EQ(next_transition(facts), (Transition{Kind::fixed, State::fixed}));
}

TEST(NextTransition, ExpectsAFixUntilSeriesAreBack) {
  for (auto const state : all_states) {
    auto facts = opened(state);
    facts.is_fix_landed = true;
    bool const waits =
        state == State::open || state == State::explained || state == State::returned;
    auto const expected =
        waits ? std::optional{Transition{Kind::fix_expected, State::fix_expected}} : std::nullopt;
    EXPECT_EQ(next_transition(facts), expected) << to_string(state);
  }
}

TEST(NextTransition, ReturnsAndJoins) {
  auto facts = opened(State::fixed);
  facts.has_returned = true;
  EXPECT_EQ(next_transition(facts), (Transition{Kind::returned, State::returned}));
  facts = opened(State::explained);
  facts.has_joined = true;
  EXPECT_EQ(next_transition(facts), (Transition{Kind::series_joined, State::explained}));
}

TEST(NextTransition, TakesTheLastRulingInAnyState) {
  for (auto const state : all_states) {
    auto facts = opened(state);
    facts.ruling = RulingKind::accept;
    auto const expected = state == State::accepted
                              ? std::nullopt
                              : std::optional{Transition{Kind::ruled, State::accepted}};
    EXPECT_EQ(next_transition(facts), expected) << to_string(state);
  }
}

TEST(NextTransition, IsStaleOnce) {
  auto facts = opened(State::explained);
  facts.is_unmeasured = true;
  EXPECT_EQ(next_transition(facts), (Transition{Kind::stale, State::stale}));
  facts.is_stale_noted = true;
  EXPECT_EQ(next_transition(facts), std::nullopt);
  facts = opened(State::fixed);
  facts.is_unmeasured = true;
  EXPECT_EQ(next_transition(facts), std::nullopt);
}

LifeFacts random_facts(std::mt19937_64& dice) {
  auto const coin = [&dice] {
    return dice() % 2 == 0;
  };
  auto facts = opened(all_states.at(dice() % all_states.size()));
  facts.is_opened = coin();
  facts.is_held = coin();
  if (coin()) facts.ruling = coin() ? RulingKind::accept : RulingKind::false_alarm;
  facts.has_returned = coin();
  facts.has_joined = coin();
  facts.has_correction = coin();
  facts.has_results = coin();
  facts.is_explained = coin();
  facts.is_fix_landed = coin();
  facts.recovered = dice() % 3;
  facts.has_recovered = facts.recovered > 0 && coin();
  facts.is_unmeasured = coin();
  facts.is_stale_noted = coin();
  return facts;
}

/// Stores what an event makes old.
void take(LifeFacts& facts, Transition const& next) {
  facts.state = next.state;
  if (next.kind == Kind::opened) facts.is_opened = true;
  if (next.kind == Kind::returned) {
    facts.has_returned = false;
    facts.is_fix_landed = false;
  }
  if (next.kind == Kind::series_joined) facts.has_joined = false;
  if (next.kind == Kind::answered) facts.has_correction = false;
  if (next.kind == Kind::explained) facts.has_results = false;
  if (next.kind == Kind::partly_fixed) facts.has_recovered = false;
  if (next.kind == Kind::stale) facts.is_stale_noted = true;
}

/// Checks rules that hold for any facts.
void expect_sound(LifeFacts const& facts, Transition const& next) {
  bool const was_ruled = facts.state == State::accepted || facts.state == State::false_alarm;
  bool const changes = next.state != facts.state;
  if (was_ruled && facts.is_opened && changes) {
    EXPECT_EQ(next.kind, Kind::ruled);
  }
  if (facts.state == State::fixed && changes && facts.is_opened) {
    EXPECT_TRUE(next.kind == Kind::returned || next.kind == Kind::ruled);
  }
  if (next.state == State::fixed && changes) {
    EXPECT_EQ(facts.recovered, facts.series);
  }
  if (next.kind == Kind::fix_expected) {
    EXPECT_TRUE(facts.is_fix_landed);
  }
  if (!facts.is_opened) {
    EXPECT_EQ(next.kind, Kind::opened);
  }
}

TEST(NextTransition, EndsForAnyFacts_AndLeavesFinalStatesOnlyForRulings) {
  std::mt19937_64 dice{11};
  for (int draw = 0; draw < 20'000; ++draw) {
    auto facts = random_facts(dice);
    int events = 0;
    while (auto const next = next_transition(facts)) {
      expect_sound(facts, *next);
      take(facts, *next);
      ASSERT_LT(++events, 10) << "draw " << draw;
    }
    ASSERT_FALSE(testing::Test::HasFailure()) << "draw " << draw;
  }
}

TEST(MayBeBack, LevelsWithinToleranceOrBetter) {
  config::DecideOptions const options;
  RecoveryScreen screen{Metric::latency, 10, 12, 10.6};
  EXPECT_TRUE(may_be_back(screen, options));
  screen.tonight = 8;
  EXPECT_TRUE(may_be_back(screen, options)) << "faster than before";
  screen.tonight = 10.8;
  EXPECT_FALSE(may_be_back(screen, options));
}

TEST(MayBeBack, HalfOfTheStepNextToTheBaseline_OnAnotherHost) {
  config::DecideOptions const options;
  RecoveryScreen screen{Metric::latency, 10, 12, 20};
  screen.pairs = {{24, 20}, {24.1, 20.2}};
  EXPECT_TRUE(may_be_back(screen, options));
  screen.pairs = {{24, 23.5}, {24.1, 23.8}};
  EXPECT_FALSE(may_be_back(screen, options));
}

TEST(ForAttempt, SharesTheErrorAmongAllNightlies) {
  config::DecideOptions const options;
  double sum = 0;
  for (std::size_t attempt = 0; attempt < 1000; ++attempt)
    sum += for_attempt(options, attempt).miss;
  EXPECT_LE(sum, options.miss);
  EXPECT_GT(sum, 0.99 * options.miss);
}

/// Compares a series of an incident with the last good build, on one nightly. `ratio`: of tonight's
/// build to the good one. True when it is called back.
bool is_called_back(bisect::Host& host, double ratio, config::DecideOptions const& options) {
  bisect::Compare compare{Metric::latency, options};
  while (true) {
    compare.add(host.pair(100, 100 * ratio));
    auto const answer = compare.answer();
    if (answer)
      return answer->verdict == Verdict::unchanged || answer->verdict == Verdict::improvement;
  }
}

/// Compares it night after night, with the options of each attempt. True when it is ever called
/// back.
bool is_ever_called_back(bisect::Host& host, double ratio, std::size_t nights) {
  config::DecideOptions const options;
  for (std::size_t night = 0; night < nights; ++night)
    if (is_called_back(host, ratio, for_attempt(options, night))) return true;
  return false;
}

constexpr std::array host_noises{0.003, 0.01, 0.03};

TEST(ForAttempt, HoldsItsBoundForSeriesThatStayWorse) {
  constexpr int lives = 40 * bisect::effort;
  constexpr std::size_t nights = 20;
  config::DecideOptions const options;
  double const hardly_worse = 1 + options.threshold + 0.001;
  int wrong = 0;
  for (auto const sigma : host_noises) {
    bisect::Host host{{.sigma = sigma}, 47};
    for (int life = 0; life < lives; ++life)
      wrong += is_ever_called_back(host, hardly_worse, nights) ? 1 : 0;
  }
  auto const expected = options.miss * lives * static_cast<double>(host_noises.size());
  EXPECT_LE(wrong, expected + 3 * std::sqrt(expected));
}

TEST(ForAttempt, CallsSeriesBackWithinTwoNightsOfTheirFix) {
  constexpr int lives = 40 * bisect::effort;
  for (auto const sigma : host_noises) {
    bisect::Host host{{.sigma = sigma}, 47};
    int back = 0;
    for (int life = 0; life < lives; ++life)
      back += is_ever_called_back(host, 1, 2) ? 1 : 0;
    EXPECT_GE(back, 0.99 * lives) << sigma;
  }
}

SeriesChange step(double before, double after) {
  SeriesChange change;
  change.series = {"local", {"alpha", Test::eval, Device::cpu, "eager"}, Metric::latency};
  change.comparison.verdict = Verdict::regression;
  change.comparison.before = before;
  change.comparison.after = after;
  change.comparison.ratio = RatioInterval{after / before, after / before, after / before};
  return change;
}

TEST(IsSameStep, OfTheSameLevelOrTheSameRatio) {
  config::DecideOptions const options;
  auto const earlier = step(10, 12);
  EXPECT_TRUE(is_same_step(earlier, step(10, 12.3).comparison, options));
  EXPECT_TRUE(is_same_step(earlier, step(20, 24.5).comparison, options)) << "on a slower host";
  EXPECT_FALSE(is_same_step(earlier, step(10, 15).comparison, options));
  EXPECT_FALSE(is_same_step(earlier, step(10, 10.9).comparison, options));
}

std::vector<Commit> commits(std::string const& digits) {
  std::vector<Commit> all;
  for (char const digit : digits) {
    Commit commit;
    commit.sha.hex = std::string(40, digit);
    all.push_back(commit);
  }
  return all;
}

std::vector<CommitSha> hashes(std::string const& digits) {
  std::vector<CommitSha> all;
  for (auto const& commit : commits(digits))
    all.push_back(commit.sha);
  return all;
}

TEST(HaveSameCause, TheCulpritElseTheRange) {
  Causes earlier;
  earlier.range = hashes("abc");
  EXPECT_TRUE(have_same_cause(commits("bc"), earlier));
  EXPECT_FALSE(have_same_cause(commits("cd"), earlier));
  EXPECT_FALSE(have_same_cause({}, earlier));
  earlier.culprits = hashes("b");
  EXPECT_TRUE(have_same_cause(commits("bd"), earlier));
  EXPECT_FALSE(have_same_cause(commits("c"), earlier));
}

}  // namespace
}  // namespace torchwatch::nightly
