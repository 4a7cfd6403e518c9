#include "daemon/cli/suite_ratios.h"

#include <gmock/gmock.h>

namespace torchwatch::cli {
namespace {

using testing::ElementsAre;
using testing::Pair;

Side make_side(std::vector<std::pair<std::string, std::map<Metric, double>>> const& levels) {
  Side side;
  for (auto const& [name, values] : levels)
    add_levels(side, parse_benchmark(name).value(), values).value();
  return side;
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

  auto const compared = compare_sides(first, second);

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

  EXPECT_TRUE(compare_sides(first, second).rows[0].ratios.empty());
}

TEST(Sides, HaveEachTestOnce) {
  auto side = make_side({{"test_eval[a-cpu-eager]", {}}});

  auto const added = add_levels(side, parse_benchmark("test_eval[a-cpu-script]").value(), {});

  EXPECT_EQ(added.error().message,
            "found test_eval[a-cpu-script] beside the same test on another device or backend, "
            "allowed is one of them");
}

}  // namespace
}  // namespace torchwatch::cli
