#include "storage/interpreters.h"

#include <gtest/gtest.h>

#include "tests/storage/tables.h"

namespace torchwatch::tests {
namespace {

using InterpretersTest = TablesTest;

TEST_F(InterpretersTest, EachFeedFollowsOneOverARestart) {
  Interpreter const ordinary{"cp313", "cp313"};
  Interpreter const other{"cp314", "cp314t"};
  EXPECT_FALSE(store.interpreters().of("https://a"));
  store.interpreters().follow("https://a", ordinary);
  store.interpreters().follow("https://b", ordinary);
  store.interpreters().follow("https://a", other);

  auto after_restart = storage::Store::open_reader(folder.database()).value();
  EXPECT_EQ(after_restart.interpreters().of("https://a"), other);
  EXPECT_EQ(after_restart.interpreters().of("https://b"), ordinary);
}

}  // namespace
}  // namespace torchwatch::tests
