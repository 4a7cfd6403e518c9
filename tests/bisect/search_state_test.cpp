#include "bisect/search/search_state.h"

#include <cmath>
#include <functional>
#include <random>
#include <set>

#include <gmock/gmock.h>

namespace torchwatch::bisect {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

/// Queries for series that each have their own benchmark.
std::vector<SeriesQuery> queries_of(std::size_t series) {
  std::vector<SeriesQuery> asked;
  for (std::size_t i = 0; i < series; ++i)
    asked.push_back({{}, i});
  return asked;
}

/// A range of suspects whose builds can be read.
class Range {
 public:
  explicit Range(std::size_t suspects, std::size_t series = 1)
      : Range{std::vector<double>(suspects, 1.0), series} {}

  explicit Range(std::vector<double> prior, std::size_t series = 1)
      : state_{std::move(prior), queries_of(series), {0.99, 200}},
        steps_(series) {}

  Range& change(std::size_t suspect, double size, std::size_t series = 0) {
    steps_[series].emplace_back(suspect, size);
    return *this;
  }

  Range& breaks(std::size_t first, std::size_t last) {
    for (auto position = first; position <= last; ++position)
      broken_.insert(position);
    return *this;
  }

  Range& noise(double deviation) {
    noise_ = deviation;
    return *this;
  }

  /// Sets the deviation of the effects of rounds.
  Range& drift(double deviation) {
    drift_ = deviation;
    return *this;
  }

  SearchState& state() { return state_; }

  /// Measures until there is an answer.
  Range& run(std::size_t slots = 1, std::size_t together = 1) {
    StepCosts const costs{
        40,
        [this](std::size_t position) { return built_.contains(position) ? 0 : 3600; },
        [](std::size_t) {
          return 1.0;
        }};
    while (true) {
      auto const measurements = state_.next(costs, {slots, together});
      if (measurements.empty()) return *this;
      for (auto const& measurement : measurements)
        answer(measurement);
    }
  }

  Answer answer(std::size_t series = 0) const { return state_.answer(series).value(); }

  std::size_t builds() const { return built_.size(); }

  std::size_t failed_builds() const { return failed_; }

  std::size_t rounds() const { return rounds_; }

 private:
  /// Adds the readings of a measurement. Benchmark i measures series i.
  void answer(Measurement const& measurement) {
    double const pace = drift_ * std::normal_distribution<double>{}(generator_);
    std::vector<Reading> readings;
    for (auto const position : measurement.positions) {
      if (broken_.contains(position)) {
        ++failed_;
        state_.skip(position);
        return;
      }
      built_.insert(position);
      double level = 1 + pace;
      for (auto const& [suspect, size] : steps_[measurement.benchmark])
        if (position > suspect) level += size;
      level += noise_ * std::normal_distribution<double>{}(generator_);
      readings.push_back({position, rounds_, level});
    }
    ++rounds_;
    state_.add(measurement.benchmark, readings);
  }

  SearchState state_;
  std::vector<std::vector<std::pair<std::size_t, double>>> steps_;
  std::set<std::size_t> broken_, built_;
  std::size_t failed_ = 0;
  std::size_t rounds_ = 0;
  double noise_ = 0.02;
  double drift_ = 0;
  std::mt19937_64 generator_{7};
};

void expect_culprits(Answer const& answer, std::vector<std::size_t> const& suspects) {
  EXPECT_EQ(answer.kind, Answer::Kind::changed);
  ASSERT_THAT(answer.changes, SizeIs(suspects.size()));
  for (std::size_t i = 0; i < suspects.size(); ++i) {
    EXPECT_EQ(answer.changes[i].first, suspects[i]);
    EXPECT_EQ(answer.changes[i].last, suspects[i]);
  }
  EXPECT_GE(answer.probability, 0.97);  // 0.99, and nothing misled it
}

TEST(SearchState, NamesTheCommit) {
  for (std::size_t const suspect : {0U, 1U, 17U, 30U, 31U}) {
    Range range{32};
    expect_culprits(range.change(suspect, 0.1).run().answer(), {suspect});
    EXPECT_LE(range.builds(), 8U);
  }
}

TEST(SearchState, NeedsOnlyTheEndsForALoneSuspect) {
  Range range{1};
  expect_culprits(range.change(0, 0.1).run().answer(), {0});
  EXPECT_EQ(range.builds(), 2U);
}

TEST(SearchState, NamesNoCommitIfNothingChanged) {
  Range range{64};
  auto const answer = range.run().answer();
  EXPECT_EQ(answer.kind, Answer::Kind::unchanged);
  EXPECT_THAT(answer.changes, IsEmpty());
  EXPECT_LE(range.builds(), 3U);
}

TEST(SearchState, GivesTheSmallestRangeThatBuilds) {
  Range range{16};
  auto const answer = range.change(8, 0.1).breaks(6, 10).run().answer();
  EXPECT_EQ(answer.kind, Answer::Kind::changed);
  ASSERT_THAT(answer.changes, SizeIs(1));
  EXPECT_EQ(answer.changes[0].first, 5U);
  EXPECT_EQ(answer.changes[0].last, 10U);
}

TEST(SearchState, FindsACommitNextToAnUnbuildableSpan) {
  Range range{64};
  expect_culprits(range.change(20, 0.1).breaks(24, 44).run().answer(), {20});
}

TEST(SearchState, FindsTwoCommitsThatOnlyTogetherExceedTheThreshold) {
  Range range{32};
  range.change(9, 0.06).change(22, 0.04).noise(0.005);
  expect_culprits(range.run().answer(), {9, 22});
}

TEST(SearchState, SeesAChangeAndItsRevertAsNoChange) {
  Range range{32};
  range.change(9, 0.1).change(22, -0.1);
  EXPECT_EQ(range.run().answer().kind, Answer::Kind::unchanged);
}

TEST(SearchState, FindsARegressionAfterAnImprovement) {
  Range range{32};
  range.change(6, -0.1).change(25, 0.25).noise(0.01);
  expect_culprits(range.run().answer(), {6, 25});
}

TEST(SearchState, ATenfoldChangeIsOne) {
  Range range{32};
  expect_culprits(range.change(13, 2.3).run(1, 2).answer(), {13});
}

TEST(SearchState, SharesBuildsAmongSeries) {
  Range range{64, 3};
  range.change(10, 0.1, 0).change(12, 0.1, 1).change(50, 0.1, 2).run();
  expect_culprits(range.answer(0), {10});
  expect_culprits(range.answer(1), {12});
  expect_culprits(range.answer(2), {50});
  EXPECT_LE(range.builds(), 16U);
}

TEST(SearchState, GivesUpWhenItsPatienceEnds) {
  Range range{64};
  auto const answer = range.change(10, 0.1).noise(3).run().answer();
  EXPECT_EQ(answer.kind, Answer::Kind::open);
  EXPECT_LT(answer.probability, 0.99);
}

TEST(SearchState, FillsItsSlots) {
  Range range{64};
  expect_culprits(range.change(33, 0.2).run(4).answer(), {33});
}

TEST(SearchState, ProposesTheSameAfterTheSameReadings) {
  StepCosts const costs{40,
                        [](std::size_t) { return 3600.0; },
                        [](std::size_t) {
                          return 1.0;
                        }};
  std::vector<Reading> const readings{{0, 0, 1.0}, {8, 0, 1.1}, {0, 1, 1.0}, {8, 1, 1.12}};
  SearchState all{std::vector<double>(8, 1.0), queries_of(1), {}};
  all.add(0, readings);
  SearchState one_by_one{std::vector<double>(8, 1.0), queries_of(1), {}};
  for (auto const& reading : readings)
    one_by_one.add(0, {reading});
  EXPECT_EQ(all.next(costs, {3, 1}), one_by_one.next(costs, {3, 1}));
  EXPECT_THAT(all.next(costs, {3, 1}), SizeIs(3));
}

TEST(SearchState, MeasuresDifferencesOnADriftingHost) {
  Range range{32};
  expect_culprits(range.change(17, 0.1).drift(0.3).run(1, 2).answer(), {17});
  EXPECT_LE(range.builds(), 8U);
}

TEST(SearchState, LooksFirstWhereAnotherSeriesMoved) {
  Range range{64, 2};
  range.change(10, 0.1, 0).change(10, 0.3, 1).run();
  expect_culprits(range.answer(0), {10});
  expect_culprits(range.answer(1), {10});
  EXPECT_LE(range.builds(), 9U);
}

TEST(SearchState, APriorThatIsRightSavesBuilds) {
  std::vector<double> prior(64, 0.05);
  for (std::size_t const likely : {5U, 37U, 50U})
    prior[likely] = 1;
  Range informed{prior};
  Range uniform{64};
  expect_culprits(informed.change(37, 0.1).noise(0.01).run().answer(), {37});
  expect_culprits(uniform.change(37, 0.1).noise(0.01).run().answer(), {37});
  EXPECT_LT(informed.builds(), uniform.builds());
  EXPECT_LT(informed.rounds(), uniform.rounds());
}

TEST(SearchState, APriorThatIsWrongIsOvercome) {
  for (std::size_t const suspect : {0U, 37U, 63U}) {
    std::vector<double> prior(64, 1.0);
    prior[suspect] = 0.05;
    Range range{prior};
    expect_culprits(range.change(suspect, 0.1).run().answer(), {suspect});
  }
}

TEST(SearchState, SearchesTheRestOfAnExplainedChange) {
  Range range{32};
  range.change(4, 0.1).change(12, 0.1).change(25, 0.1).noise(0.005).run();
  Expectation rest;
  rest.least = 0.02;
  range.state().explain(0, 4, rest, 0.07);
  expect_culprits(range.run().answer(), {12, 25});
  range.state().explain(0, 12, rest, 0.07);
  range.state().explain(0, 25, rest, 0.07);
  EXPECT_EQ(range.run().answer().kind, Answer::Kind::unchanged);
}

TEST(SearchState, DropsASeriesWithTooManyKnownChanges) {
  SearchState state{std::vector<double>(8, 1.0), queries_of(1), {}};
  for (std::size_t round = 0; round < 4; ++round)
    for (std::size_t position = 0; position <= 8; ++position)
      state.add(0, {{position, round, 1.0 + 0.2 * static_cast<double>(position)}});
  for (std::size_t suspect = 0; suspect < 8; ++suspect)
    state.explain(0, suspect, {}, 0.07);
  state.add(0, {{0, 4, 1.0}});
  EXPECT_TRUE(state.answer(0));
}

TEST(SearchState, ReadsOneBenchmarkWhereAnotherCannotBeRead) {
  auto asked = queries_of(2);
  SearchState state{{1.0, 1.0}, asked, {}};
  state.skip(1, 0);
  for (std::size_t round = 0; round < 6; ++round)
    for (std::size_t series = 0; series < 2; ++series)
      state.add(series, {{0, round, 1.0}, {2, round, 1.2}});
  EXPECT_EQ(state.answer(0)->changes.front().last, 1U);
  EXPECT_FALSE(state.answer(1));
}

TEST(SearchState, ADroppedSeriesIsOpen) {
  SearchState state{{1.0, 1.0}, queries_of(1), {}};
  state.drop(0);
  EXPECT_EQ(state.answer(0)->kind, Answer::Kind::open);
  StepCosts const costs{40,
                        [](std::size_t) { return 0.0; },
                        [](std::size_t) {
                          return 1.0;
                        }};
  EXPECT_THAT(state.next(costs, {}), IsEmpty());
}

Question question_of(Belief belief) {
  auto const suspects = belief.positions.back();
  return {std::move(belief), std::vector<double>(suspects, 1.0), 0, {}};
}

TEST(Plan, BeginsWithBothEndsTwice) {
  std::vector const questions{question_of(believe(std::vector<double>(8, 1.0), {}, {}))};
  StepCosts const costs{40,
                        [](std::size_t) { return 0.0; },
                        [](std::size_t) {
                          return 1.0;
                        }};
  std::vector<Measurement> const alone{
      {0, {0}, 0, 40}, {0, {8}, 0, 40}, {0, {0}, 0, 40}, {0, {8}, 0, 40}};
  EXPECT_EQ(plan(questions, costs, {4, 1}), alone);
  std::vector<Measurement> const together{{0, {0, 8}, 0, 80}, {0, {0, 8}, 0, 80}};
  EXPECT_EQ(plan(questions, costs, {4, 2}), together);
}

TEST(Plan, WeighsInformationBySeconds) {
  std::vector<double> const prior(8, 1.0);
  std::vector<Reading> readings;
  for (std::size_t round = 0; round < 6; ++round)
    readings.insert(readings.end(), {{0, round, 1.0}, {8, round, 1.1}});
  std::vector const questions{question_of(believe(prior, readings, {}))};
  auto const always = [](std::size_t) {
    return 1.0;
  };
  StepCosts const alike{40, [](std::size_t) { return 3600.0; }, always};
  EXPECT_THAT(plan(questions, alike, {}).front().positions, ElementsAre(4U));
  StepCosts const cached{
      40, [](std::size_t position) { return position == 2 ? 0.0 : 3600.0; }, always};
  EXPECT_THAT(plan(questions, cached, {}).front().positions, ElementsAre(2U));
}

}  // namespace
}  // namespace torchwatch::bisect
