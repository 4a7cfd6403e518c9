#include "daemon/cli/batch_size.h"

#include <algorithm>

#include <gmock/gmock.h>

namespace torchwatch::cli {
namespace {

using testing::ElementsAre;

/// Runs a search. `latency` returns the ms of a batch; a negative value is a failure.
template <class Latency>
BatchSearch search(Latency latency) {
  BatchSearch search;
  while (auto const batch = search.next()) {
    double const ms = latency(static_cast<double>(*batch));
    if (ms < 0)
      search.add_failure();
    else
      search.add_latency(ms);
  }
  return search;
}

std::vector<std::int64_t> batches_of(BatchSearch const& search) {
  std::vector<std::int64_t> batches;
  for (auto const& trial : search.trials())
    batches.push_back(trial.batch);
  return batches;
}

TEST(BatchSearch, StopsWhenTheDeviceIsFull) {
  // Eight samples take as long as one.
  auto const found = search([](double batch) { return 5 * std::max(1.0, batch / 8); });

  EXPECT_THAT(batches_of(found), ElementsAre(1, 2, 4, 8, 16, 32));
  EXPECT_EQ(found.best()->batch, 8);
  EXPECT_DOUBLE_EQ(found.best()->per_second, 1600);
}

TEST(BatchSearch, StopsWhenMemoryEnds) {
  auto const found = search([](double batch) { return batch > 4 ? -1 : 5.0; });

  EXPECT_THAT(batches_of(found), ElementsAre(1, 2, 4, 8));
  EXPECT_EQ(found.best()->batch, 4);
  EXPECT_EQ(found.trials().back().per_second, 0);
}

TEST(BatchSearch, ContinuesAfterOneSlowBatch) {
  auto const found = search([](double batch) {
    if (batch > 16) return -1.0;
    return batch == 4 ? 12.0 : 5.0;
  });

  EXPECT_EQ(found.best()->batch, 16);
}

TEST(BatchSearch, HasNoBest_WhenEveryBatchFails) {
  auto const found = search([](double) { return -1.0; });

  EXPECT_FALSE(found.best().has_value());
  EXPECT_THAT(batches_of(found), ElementsAre(1));
}

TEST(BatchSearch, EndsAtLargestBatch_WhenThroughputAlwaysGrows) {
  auto const found = search([](double) { return 1.0; });

  EXPECT_EQ(found.best()->batch, 1 << 20);
}

}  // namespace
}  // namespace torchwatch::cli
