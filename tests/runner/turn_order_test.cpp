#include "runner/turn_order.h"

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <utility>
#include <vector>

#include <boost/math/distributions/chi_squared.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace torchwatch::runner {

namespace {

using Order = std::vector<std::size_t>;
using testing::ElementsAre;

std::size_t factorial(std::size_t count) {
  return count < 2 ? 1 : count * factorial(count - 1);
}

/// The number of times that each outcome occurred.
template <class Outcome>
using Counts = std::map<Outcome, int>;

/// Returns the probability that a fair draw among `kinds` outcomes deviates as much (Pearson's
/// chi-squared).
template <class Outcome>
double p_value(Counts<Outcome> const& counts, std::size_t kinds) {
  int draws = 0;
  for (auto const& [outcome, count] : counts)
    draws += count;
  double const expected = static_cast<double>(draws) / static_cast<double>(kinds);
  double statistic = expected * static_cast<double>(kinds - counts.size());
  for (auto const& [outcome, count] : counts)
    statistic += (count - expected) * (count - expected) / expected;
  boost::math::chi_squared const distribution{static_cast<double>(kinds - 1)};
  return boost::math::cdf(boost::math::complement(distribution, statistic));
}

/// The seeds are fixed, so the tests are deterministic.
constexpr double usual = 0.001;
constexpr std::uint32_t draws = 60'000;

class OrdersOfSome : public testing::TestWithParam<std::size_t> {
 protected:
  std::size_t count() const { return GetParam(); }

  std::size_t kinds() const { return factorial(count()); }
};

TEST_P(OrdersOfSome, AreUniformOverTheSeeds) {
  for (auto const what : {Drawn::places, Drawn::passes}) {
    Counts<Order> counts;
    for (std::uint32_t seed = 0; seed < draws; ++seed)
      ++counts[TurnOrder{seed, what, count()}.next()];
    EXPECT_GT(p_value(counts, kinds()), usual);
  }
}

TEST_P(OrdersOfSome, AreUniformAndIndependentFromPassToPass) {
  for (std::uint32_t const seed : {0U, 1U, 4294967295U}) {
    TurnOrder orders{seed, Drawn::passes, count()};
    Counts<std::pair<Order, Order>> counts;
    Order last = orders.next();
    for (std::uint32_t pass = 0; pass < draws; ++pass) {
      auto const& order = orders.next();
      ++counts[{last, order}];
      last = order;
    }
    EXPECT_GT(p_value(counts, kinds() * kinds()), usual) << seed;
  }
}

/// Drawn from the same numbers, one build would be first in every round, at any place.
TEST_P(OrdersOfSome, OfTurnsAreIndependentOfPlaces) {
  Counts<std::pair<Order, Order>> counts;
  for (std::uint32_t seed = 0; seed < draws; ++seed) {
    auto const places = TurnOrder{seed, Drawn::places, count()}.next();
    ++counts[{places, TurnOrder{seed, Drawn::passes, count()}.next()}];
  }
  EXPECT_GT(p_value(counts, kinds() * kinds()), usual);
}

INSTANTIATE_TEST_SUITE_P(Few, OrdersOfSome, testing::Values(2U, 3U, 4U));

TEST(TurnOrder, OfNeighbouringSeedsAreIndependent) {
  for (auto const what : {Drawn::places, Drawn::passes}) {
    Counts<std::pair<Order, Order>> counts;
    for (std::uint32_t seed = 0; seed < draws; ++seed)
      ++counts[{TurnOrder{seed, what, 2}.next(), TurnOrder{seed + 1, what, 2}.next()}];
    EXPECT_GT(p_value(counts, 4), usual);
  }
}

/// Returns how many more turns of job 0 than of job 1 are disturbed on a host that is busy for half
/// of every `period` turns, across the ends of passes.
int burden(std::uint32_t seed, int period) {
  constexpr int passes = 12;
  auto const who = TurnOrder{seed, Drawn::places, 2}.next();
  TurnOrder orders{seed, Drawn::passes, 2};
  int difference = 0;
  int turn = 0;
  for (int pass = 0; pass < passes; ++pass)
    for (auto const place : orders.next())
      if (++turn % period < period / 2) difference += who[place] == 0 ? 1 : -1;
  return difference;
}

TEST(TurnOrder, DistributeALoadOfAnyRhythmEvenly) {
  constexpr std::uint32_t rounds = 10'000;
  for (int const period : {2, 3, 4, 5, 8, 24}) {
    int first = 0;
    int second = 0;
    for (std::uint32_t seed = 0; seed < rounds; ++seed) {
      auto const difference = burden(seed, period);
      first += difference > 0 ? 1 : 0;
      second += difference < 0 ? 1 : 0;
    }
    EXPECT_GT(first + second, 1000) << period;
    EXPECT_LT(std::abs(first - second), 4 * std::sqrt(first + second)) << period;
  }
}

TEST(TurnOrder, AreDrawnAgainFromTheirSeed) {
  TurnOrder first{7, Drawn::passes, 5};
  TurnOrder second{7, Drawn::passes, 5};
  TurnOrder other{8, Drawn::passes, 5};
  int differ = 0;
  for (int pass = 0; pass < 100; ++pass) {
    auto const& order = first.next();
    EXPECT_EQ(order, second.next());
    differ += order != other.next() ? 1 : 0;
  }
  EXPECT_GT(differ, 90);
}

/// The orders of rounds that were stored years ago must not change. The expected values were
/// computed by another program from the text of the standard.
TEST(TurnOrder, AreThoseOfStoredSeeds) {
  std::vector<std::size_t> first;
  for (std::uint32_t seed = 0; seed < 16; ++seed)
    first.push_back(TurnOrder{seed, Drawn::places, 2}.next().front());
  EXPECT_THAT(first, ElementsAre(0, 1, 0, 1, 1, 0, 0, 0, 1, 1, 1, 0, 1, 1, 1, 1));
  EXPECT_THAT((TurnOrder{4294967295, Drawn::places, 5}.next()), ElementsAre(4, 1, 3, 2, 0));
  TurnOrder passes{20261124, Drawn::passes, 3};
  EXPECT_THAT(passes.next(), ElementsAre(0, 1, 2));
  EXPECT_THAT(passes.next(), ElementsAre(0, 1, 2));
  EXPECT_THAT(passes.next(), ElementsAre(1, 2, 0));
  EXPECT_THAT(passes.next(), ElementsAre(1, 0, 2));
  for (int pass = 4; pass < 399; ++pass)
    passes.next();
  EXPECT_THAT(passes.next(), ElementsAre(0, 2, 1)) << "the generator refilled its state in between";
}

TEST(TurnOrder, OfOneAndOfNoneAreTrivial) {
  EXPECT_THAT((TurnOrder{1, Drawn::places, 1}.next()), ElementsAre(0));
  EXPECT_THAT((TurnOrder{1, Drawn::passes, 0}.next()), ElementsAre());
}

}  // namespace

}  // namespace torchwatch::runner
