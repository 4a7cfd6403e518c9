#include "daemon/cli/metric_columns.h"

#include <gmock/gmock.h>

namespace torchwatch::cli {
namespace {

using testing::ElementsAre;

Metric declared(std::string const& name, std::string const& unit, bool is_higher_better = false) {
  MetricKind const kind{.unit = unit, .is_higher_better = is_higher_better};
  return declare_metric(name, kind).value();
}

std::vector<std::string> headings(std::vector<MetricColumn> const& columns) {
  std::vector<std::string> all;
  for (auto const& column : columns)
    all.push_back(column.heading);
  return all;
}

TEST(MetricColumns, OfNativeValues_AreAllFourInTheirWidths) {
  auto const columns = value_columns({Metric::cmem});
  EXPECT_EQ(headings_of(columns), "   latency ms    cmem MiB    gmem MiB  leak B/iter");
  EXPECT_EQ(headings_of(value_columns({})), headings_of(columns)) << "when all benchmarks failed";
}

TEST(MetricColumns, OfASuite_HaveItsUnitsAfterTheNativeOnes) {
  auto const tokens = declared("column_tokens", "1/s", true);
  auto const kernels = declared("column_kernels", "1");
  EXPECT_THAT(headings(value_columns({tokens, kernels})),
              ElementsAre("column_kernels", "column_tokens 1/s"));
  EXPECT_THAT(
      headings(value_columns({tokens, Metric::latency})),
      ElementsAre("latency ms", "cmem MiB", "gmem MiB", "leak B/iter", "column_tokens 1/s"));
}

TEST(MetricColumns, ScaleBytesAndKeepDigits) {
  auto const tokens = declared("column_tokens", "1/s", true);
  auto const columns = value_columns({tokens, Metric::cmem});
  EXPECT_EQ(value_text(columns[0], 10.04941), "10.049");
  EXPECT_EQ(value_text(columns[1], 15.7 * (1 << 20)), "15.70");
  EXPECT_EQ(value_text(columns[4], 1234.56), "1234.56");
  EXPECT_EQ(value_text(columns[4], 12345678), "12345678");
  EXPECT_EQ(cell_of(columns[1], "15.70"), "       15.70");
}

TEST(MetricColumns, OfRatios_MarkMetricsWhoseHigherValuesAreBetter) {
  auto const tokens = declared("column_tokens", "1/s", true);
  EXPECT_THAT(headings(ratio_columns({tokens})), ElementsAre("column_tokens*"));
  EXPECT_THAT(headings(ratio_columns({Metric::latency, tokens})),
              ElementsAre("latency", "cmem", "gmem", "column_tokens*"));
  EXPECT_EQ(headings_of(ratio_columns({Metric::latency})), "   latency      cmem      gmem");
}

}  // namespace
}  // namespace torchwatch::cli
