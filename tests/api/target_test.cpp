#include "daemon/api/target.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace torchwatch::api {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

TEST(Target, SplitsPathAndQuery) {
  auto const target = parse_target("/api/v1/series?fleet=local&limit=3");

  ASSERT_TRUE(target);
  EXPECT_THAT(target->path, ElementsAre("api", "v1", "series"));
  EXPECT_THAT(target->query, ElementsAre(Pair("fleet", "local"), Pair("limit", "3")));
}

TEST(Target, DecodesEachPartAfterSplitting) {
  auto const target = parse_target("/a%2Fb/c+d?x%26y=1%3D2+3&empty=&bare");

  ASSERT_TRUE(target);
  EXPECT_THAT(target->path, ElementsAre("a/b", "c+d"));
  EXPECT_THAT(target->query,
              ElementsAre(Pair("bare", ""), Pair("empty", ""), Pair("x&y", "1=2 3")));
}

TEST(Target, TakesTheAbsoluteForm) {
  EXPECT_THAT(parse_target("http://localhost:8917/healthz?a=b").value().path,
              ElementsAre("healthz"));
  EXPECT_THAT(parse_target("https://localhost").value().path, ElementsAre(""));
}

TEST(Target, KeepsEmptyAndDottedSegments) {
  EXPECT_THAT(parse_target("/").value().path, ElementsAre(""));
  EXPECT_THAT(parse_target("//a/./../").value().path, ElementsAre("", "a", ".", "..", ""));
}

TEST(Target, AQueryMayBeEmpty) {
  EXPECT_THAT(parse_target("/healthz?").value().query, IsEmpty());
}

class BadTarget : public ::testing::TestWithParam<char const*> {};

TEST_P(BadTarget, IsRefused) {
  auto const target = parse_target(GetParam());
  ASSERT_FALSE(target);
  EXPECT_EQ(target.error().code, ErrorCode::invalid_argument);
}

INSTANTIATE_TEST_SUITE_P(All,
                         BadTarget,
                         ::testing::Values("",
                                           "*",
                                           "healthz",
                                           "ftp://x/y",
                                           "/%",
                                           "/%4",
                                           "/%zz",
                                           "/%+1",
                                           "/%-1",
                                           "/% 1",
                                           "/a?b=%",
                                           "/a?%x0=1",
                                           "/a?b=1&b=2",
                                           "/a?b=1&%62=2"));

}  // namespace
}  // namespace torchwatch::api
