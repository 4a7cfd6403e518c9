#include "bisect/compare/suite_ratios.h"

#include <gmock/gmock.h>

namespace torchwatch::bisect {
namespace {

using testing::ElementsAre;
using testing::Pair;

Side make_side(std::vector<std::pair<std::string, std::map<Metric, double>>> const& levels) {
  std::vector<LevelOfSeries> all;
  for (auto const& [name, values] : levels)
    for (auto const& [metric, level] : values)
      all.push_back({{"local", parse_benchmark(name).value(), metric}, level});
  return sides_of(all, {}).first;
}

std::string_view no_domain(std::string const&) {
  return "";
}

/// The domain "VISION" for models whose names begin with "v", none for others.
std::string_view vision(std::string const& model) {
  return model.starts_with('v') ? "VISION" : "";
}

LevelOfSeries level_of(std::string const& fleet, std::string const& benchmark, double ms) {
  return {{fleet, parse_benchmark(benchmark).value(), Metric::latency}, ms};
}

TEST(Sides, AreComparedByTheSecondsRatioToTheFirst) {
  auto const first =
      make_side({{"test_eval[a-cpu-eager]", {{Metric::latency, 10}, {Metric::cmem, 4}}},
                 {"test_eval[b-cpu-eager]", {{Metric::latency, 8}}},
                 {"test_train[a-cpu-eager]", {{Metric::latency, 3}}}});
  auto const second =
      make_side({{"test_eval[a-cuda-eager]", {{Metric::latency, 5}, {Metric::gmem, 1}}},
                 {"test_eval[b-cuda-eager]", {{Metric::latency, 16}}},
                 {"test_eval[c-cuda-eager]", {{Metric::latency, 1}}}});

  auto const compared = compare_sides(first, second, no_domain);

  ASSERT_EQ(compared.rows.size(), 2U);
  EXPECT_THAT(compared.rows[0].ratios, ElementsAre(Pair(Metric::latency, 0.5)));
  EXPECT_THAT(compared.rows[1].ratios, ElementsAre(Pair(Metric::latency, 2.0)));
  ASSERT_EQ(compared.means.size(), 1U);
  EXPECT_DOUBLE_EQ(compared.means[0].ratio, 1) << "twice as fast and half as fast";
  EXPECT_EQ(compared.means[0].benchmarks, 2);
  EXPECT_THAT(compared.only_first, ElementsAre(ModelTest{"a", torchwatch::Test::train}));
  EXPECT_THAT(compared.only_second, ElementsAre(ModelTest{"c", torchwatch::Test::eval}));
}

TEST(Sides, HaveNoRatioToNothing) {
  auto const first = make_side({{"test_eval[a-cpu-eager]", {{Metric::leak, 0}}}});
  auto const second = make_side({{"test_eval[a-cpu-eager]", {{Metric::leak, 5}}}});

  EXPECT_TRUE(compare_sides(first, second, no_domain).rows[0].ratios.empty());
}

TEST(Sides, HaveAMeanOfAllAndOfEachDomain) {
  auto const first = make_side({{"test_eval[a-cpu-eager]", {{Metric::latency, 1}}},
                                {"test_eval[v1-cpu-eager]", {{Metric::latency, 1}}},
                                {"test_eval[v2-cpu-eager]", {{Metric::latency, 1}}}});
  auto const second = make_side({{"test_eval[a-cpu-eager]", {{Metric::latency, 16}}},
                                 {"test_eval[v1-cpu-eager]", {{Metric::latency, 2}}},
                                 {"test_eval[v2-cpu-eager]", {{Metric::latency, 2}}}});

  auto const means = compare_sides(first, second, vision).means;

  ASSERT_EQ(means.size(), 2U);
  EXPECT_EQ(means[0].domain, "");
  EXPECT_NEAR(means[0].ratio, 4, 1e-12);
  EXPECT_EQ(means[0].benchmarks, 3);
  EXPECT_EQ(means[1].domain, "VISION");
  EXPECT_NEAR(means[1].ratio, 2, 1e-12);
  EXPECT_EQ(means[1].of, (ModelTest{"", torchwatch::Test::eval}));
}

TEST(Sides, ThatHaveOneDeviceEachDifferByIt) {
  auto const sides = sides_of({level_of("old", "test_eval[a-cpu-eager]", 8)},
                              {level_of("new", "test_eval[a-cuda-script]", 2)});

  auto const compared = compare_sides(sides.first, sides.second, no_domain);

  ASSERT_EQ(compared.rows.size(), 1U);
  EXPECT_EQ(compared.rows[0].key, (ModelTest{"a", torchwatch::Test::eval}));
  EXPECT_THAT(compared.rows[0].ratios, ElementsAre(Pair(Metric::latency, 0.25)));
}

TEST(Sides, ThatHaveSeveralBackendsAreComparedLikeByLike) {
  auto const sides = sides_of(
      {level_of("f", "test_eval[a-cpu-eager]", 8), level_of("f", "test_eval[a-cpu-script]", 4)},
      {level_of("g", "test_eval[a-cpu-script]", 2)});

  auto const compared = compare_sides(sides.first, sides.second, no_domain);

  ModelTest script{"a", torchwatch::Test::eval};
  script.backend = "script";
  ModelTest eager{"a", torchwatch::Test::eval};
  eager.backend = "eager";
  ASSERT_EQ(compared.rows.size(), 1U);
  EXPECT_EQ(compared.rows[0].key, script);
  EXPECT_EQ(compared.rows[0].ratios.at(Metric::latency), 0.5);
  EXPECT_THAT(compared.only_first, ElementsAre(eager));
  ASSERT_EQ(compared.means.size(), 1U);
  EXPECT_EQ(compared.means[0].of.backend, "script");
}

}  // namespace
}  // namespace torchwatch::bisect
