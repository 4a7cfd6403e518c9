#include "bisect/search.h"

#include <stdexcept>
#include <string>

#include "trial.h"
#include <gtest/gtest.h>

namespace torchwatch::bisect {
namespace {

std::string transcript(std::string_view letters) {
  Trial trial{letters};
  trial.run();
  return trial.tried() + " -> " + trial.suspects();
}

CommitSha const c1{"c1"};
CommitSha const c2{"c2"};
CommitSha const c3{"c3"};

TEST(Search, HalvesWhatIsLeft) {
  EXPECT_EQ(transcript("ggggbbbb"), "c3g c5b c4b -> c4");
  EXPECT_EQ(transcript("bbbbbbbb"), "c3b c1b c0b -> c0");
  EXPECT_EQ(transcript("gggggggb"), "c3g c5g c6g -> c7");
}

TEST(Search, KnowsALoneSuspectWithoutATrial) {
  EXPECT_EQ(transcript("b"), " -> c0");
}

TEST(Search, KeepsSkippedCommitsAmongTheSuspects) {
  EXPECT_EQ(transcript("ggssbb"), "c2s c3s c0g c4b c1g -> c2 c3 c4");
}

TEST(Search, NamesEverySuspectWhenNothingBuilds) {
  EXPECT_EQ(transcript("ssssb"), "c1s c2s c3s c0s -> c0 c1 c2 c3 c4");
}

TEST(Search, LeavesABrokenSpanAtBothEndsBeforeItLooksInside) {
  EXPECT_EQ(transcript("ggggggbsssssbbbb"), "c7s c11s c3g c13b c5g c12b c6b -> c6");
}

TEST(Search, FindsACulpritRightBehindABrokenSpan) {
  EXPECT_EQ(transcript("gggssggb"), "c3s c5g c6g -> c7");
}

TEST(Search, LooksInsideABrokenSpanWhenTheCulpritMustBeThere) {
  EXPECT_EQ(transcript("ggsgsbbb"), "c3g c5b c4s -> c4 c5");
}

TEST(Search, TakesVerdictsInAnyOrder) {
  Search search{Trial::commits(6)};
  ASSERT_TRUE(search.report(c3, StepVerdict::bad));
  ASSERT_TRUE(search.report(c1, StepVerdict::skip));
  ASSERT_TRUE(search.report(c1, StepVerdict::good));
  EXPECT_EQ(search.next(), c2);
  ASSERT_TRUE(search.report(c2, StepVerdict::good));
  EXPECT_EQ(search.next(), std::nullopt);
  ASSERT_EQ(search.suspects().size(), 1U);
  EXPECT_EQ(search.suspects().front(), c3);
}

TEST(Search, IgnoresNewsAboutCommitsThatAreNoLongerSuspects) {
  Search search{Trial::commits(6)};
  ASSERT_TRUE(search.report(c2, StepVerdict::good));
  ASSERT_TRUE(search.report(c1, StepVerdict::good));
  ASSERT_TRUE(search.report(c1, StepVerdict::skip));
  EXPECT_EQ(search.suspects().front(), c3);
}

TEST(Search, RefusesGoodAfterBad) {
  Search search{Trial::commits(6)};
  ASSERT_TRUE(search.report(c2, StepVerdict::bad));
  auto const refused = search.report(c3, StepVerdict::good);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(refused.error().message,
            "report verdict: commit c3 cannot be good, for it is or follows the bad c2");
  EXPECT_EQ(search.suspects().size(), 3U);
}

TEST(Search, RefusesBadBeforeGood) {
  Search search{Trial::commits(6)};
  ASSERT_TRUE(search.report(c2, StepVerdict::good));
  auto const refused = search.report(c1, StepVerdict::bad);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message,
            "report verdict: commit c1 cannot be bad, for it is or precedes the good c2");
  EXPECT_EQ(search.suspects().size(), 3U);
}

TEST(Search, RefusesAGoodNewestSuspect) {
  Search search{Trial::commits(4)};
  EXPECT_FALSE(search.report(c3, StepVerdict::good));
}

TEST(Search, RefusesAStranger) {
  Search search{Trial::commits(4)};
  auto const refused = search.report(CommitSha{"c9"}, StepVerdict::skip);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, "report verdict: commit c9 is not one of the 4 suspects");
}

TEST(Search, ThrowsWithoutSuspects) {
  EXPECT_THROW(Search{{}}, std::invalid_argument);
}

}  // namespace
}  // namespace torchwatch::bisect
