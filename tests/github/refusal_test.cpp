#include "github/refusal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace torchwatch::github {
namespace {

struct RefusedCase {
  int status;
  char const* body;
  Refusal refusal;
};

class ClassOfRefusal : public testing::TestWithParam<RefusedCase> {};

TEST_P(ClassOfRefusal, FollowsFromTheResponse) {
  auto const& [status, body, refusal] = GetParam();
  EXPECT_EQ(to_string(refusal_of({status, {}, body})), to_string(refusal)) << body;
}

INSTANTIATE_TEST_SUITE_P(
    Each,
    ClassOfRefusal,
    testing::Values(
        RefusedCase{200, "{}", Refusal::none},
        RefusedCase{502, "{}", Refusal::none},
        RefusedCase{429, "{}", Refusal::none},
        RefusedCase{
            403, R"({"message":"You have exceeded a secondary rate limit."})", Refusal::none},
        RefusedCase{401, R"({"message":"Bad credentials"})", Refusal::credentials},
        RefusedCase{
            403, R"({"message":"This installation has been suspended"})", Refusal::suspended},
        RefusedCase{
            403, R"({"message":"Repository was archived so is read-only."})", Refusal::archived},
        RefusedCase{
            410, R"({"message":"Issues are disabled for this repo"})", Refusal::issues_disabled},
        RefusedCase{404, R"({"message":"Not Found"})", Refusal::hidden},
        RefusedCase{403, R"({"message":"Repository access blocked"})", Refusal::hidden},
        RefusedCase{403, R"({"message":"User is blocked"})", Refusal::blocked},
        RefusedCase{422,
                    R"({"message":"Validation Failed","errors":[{"message":"user is blocked"}]})",
                    Refusal::blocked},
        RefusedCase{410, R"({"message":"This issue was deleted"})", Refusal::deleted},
        RefusedCase{403,
                    R"({"message":"Unable to create comment because issue is locked."})",
                    Refusal::locked},
        RefusedCase{
            403, R"({"message":"Resource not accessible by integration"})", Refusal::permission},
        RefusedCase{422,
                    R"({"errors":[{"resource":"Label","field":"name","code":"invalid"}]})",
                    Refusal::label},
        RefusedCase{422,
                    R"({"errors":[{"resource":"Issue","field":"assignees","code":"invalid"}]})",
                    Refusal::assignee},
        RefusedCase{422,
                    R"({"errors":["odd",{"resource":"Issue","field":"body","code":"custom"}]})",
                    Refusal::contents},
        RefusedCase{422, "{}", Refusal::contents},
        RefusedCase{400, R"({"message":"Problems parsing JSON"})", Refusal::other}));

TEST(RefusalTest, OfAMovedIssueIsATransfer) {
  EXPECT_EQ(refusal_of({404, {}, R"({"message":"Not Found"})"}, true), Refusal::transferred);
}

TEST(RefusalTest, HasAWordAndAdviceForEachClass) {
  for (int i = 0; i <= static_cast<int>(Refusal::other); ++i) {
    auto const refusal = static_cast<Refusal>(i);
    EXPECT_EQ(parse_refusal(to_string(refusal)), refusal);
    EXPECT_FALSE(advice_on(refusal).empty());
  }
  EXPECT_EQ(parse_refusal("unknown"), std::nullopt);
}

TEST(RefusalTest, StopsTheRepositoryOrEndsTheReport) {
  EXPECT_TRUE(stops_repository(Refusal::credentials));
  EXPECT_TRUE(stops_repository(Refusal::hidden));
  EXPECT_TRUE(stops_repository(Refusal::blocked));
  EXPECT_FALSE(stops_repository(Refusal::deleted));
  EXPECT_FALSE(stops_repository(Refusal::none));
  EXPECT_TRUE(ends_report(Refusal::blocked));
  EXPECT_TRUE(ends_report(Refusal::transferred));
  EXPECT_TRUE(ends_report(Refusal::locked));
  EXPECT_FALSE(ends_report(Refusal::archived));
  EXPECT_FALSE(ends_report(Refusal::permission));
}

}  // namespace
}  // namespace torchwatch::github
