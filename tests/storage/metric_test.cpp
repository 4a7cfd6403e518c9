#include "storage/domain/metric.h"

#include <algorithm>
#include <vector>

#include <gmock/gmock.h>

namespace torchwatch {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(MetricDeclaration, NativeMetricsExistFromTheStart) {
  EXPECT_EQ(parse_metric("latency"), Metric::latency);
  EXPECT_EQ(to_string(Metric::gmem), "gmem");
  EXPECT_EQ(unit_of(Metric::leak), "bytes/iteration");
  EXPECT_FALSE(is_deterministic(Metric::latency));
  EXPECT_TRUE(is_deterministic(Metric::cmem));
}

TEST(MetricDeclaration, SameDeclarationIsTheSameMetricAndAnotherOneAnError) {
  MetricKind const kind{.unit = "ms", .floor = 0.5};
  auto const metric = declare_metric("test_ttft", kind).value();
  EXPECT_EQ(declare_metric("test_ttft", kind).value(), metric);
  EXPECT_EQ(parse_metric("test_ttft"), metric);
  EXPECT_EQ(metric.kind(), kind);
  auto const other = declare_metric("test_ttft", MetricKind{.unit = "s"});
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().message, "metric test_ttft: declared twice with different properties");
  EXPECT_EQ(parse_metric("test_unknown"), std::nullopt);
}

TEST(MetricDeclaration, NameIsOneWord) {
  for (auto const* const name : {"", "tokens/s", "a b", "a-b"}) {
    auto const metric = declare_metric(name, {});
    ASSERT_FALSE(metric) << name;
    EXPECT_THAT(metric.error().message, HasSubstr("allowed is a name of letters, digits and _"));
  }
}

TEST(MetricDeclaration, OrderIsNativeOnesFirstThenByName) {
  auto const last = declare_metric("test_z", {}).value();
  auto const first = declare_metric("test_a", {}).value();
  EXPECT_LT(first, last);
  EXPECT_LT(Metric::leak, first);
  auto const all = all_metrics();
  ASSERT_GE(all.size(), 6U);
  EXPECT_THAT(std::vector(all.begin(), all.begin() + 4),
              ElementsAre(Metric::latency, Metric::cmem, Metric::gmem, Metric::leak));
  EXPECT_TRUE(std::ranges::is_sorted(all));
}

}  // namespace
}  // namespace torchwatch
