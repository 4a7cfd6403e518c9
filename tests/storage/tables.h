#pragma once

#include <string>

#include <gtest/gtest.h>

#include "storage/store.h"
#include "tests/storage/samples.h"

namespace torchwatch::tests {

/// An empty store in its own file.
class TablesTest : public ::testing::Test {
 protected:
  NightlyId announce(std::string const& date, char digit) {
    store.nightlies().announce(nightly_of(date, digit));
    return store.nightlies().all().back().id;
  }

  NightlyId announce(std::string const& date, char digit, NightlyState state) {
    auto nightly = store.nightlies().find(announce(date, digit)).value();
    nightly.state = state;
    store.nightlies().update(nightly);
    return nightly.id;
  }

  TemporaryFolder folder;
  storage::Store store = storage::Store::open(folder.database()).value();
};

inline void expect_same(Comparison const& read, Comparison const& written) {
  EXPECT_EQ(read.verdict, written.verdict);
  EXPECT_EQ(read.before, written.before);
  EXPECT_EQ(read.after, written.after);
  ASSERT_EQ(read.ratio.has_value(), written.ratio.has_value());
  if (written.ratio) {
    EXPECT_EQ(read.ratio->ratio, written.ratio->ratio);
    EXPECT_EQ(read.ratio->low, written.ratio->low);
    EXPECT_EQ(read.ratio->high, written.ratio->high);
  }
  EXPECT_EQ(read.error_bound, written.error_bound);
  EXPECT_EQ(read.pairs, written.pairs);
}

}  // namespace torchwatch::tests
