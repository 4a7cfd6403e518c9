#include "daemon/cli/bisection_text.h"

#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>

#include "daemon/api/json.h"

namespace torchwatch::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;

Finding finding_of(std::size_t suspects) {
  Commit const commit{{std::string(40, 'a')}, "Change", "Ada <ada@example.org>", {}, 7};
  Effect effect;
  effect.series = {"local", {"dlrm", Test::eval, Device::cpu, "eager"}, Metric::latency};
  effect.before = 10;
  effect.after = 12;
  effect.probability = 0.97;
  return {std::vector<Commit>(suspects, commit), {effect}};
}

std::string printed(Bisection const& bisection) {
  testing::internal::CaptureStdout();
  print_bisection(api::json_of(bisection, ""));
  return testing::internal::GetCapturedStdout();
}

Bisection range_of(Finding finding) {
  Bisection bisection;
  bisection.id = BisectionId{1};
  bisection.state = BisectionState::done;
  bisection.outcome = BisectionOutcome::range;
  bisection.findings = {std::move(finding)};
  return bisection;
}

TEST(BisectionText, OfOneCommit_HasItOnTheLineOfTheHeadline) {
  auto bisection = range_of(finding_of(1));
  bisection.findings.front().no_revert_check = "git revert does not apply";
  EXPECT_EQ(printed(bisection),
            "bisection 1: Range of commits\n"
            "  Most likely commit (not compared with its parent): " +
                std::string(40, 'a') +
                " https://github.com/pytorch/pytorch/pull/7  Change (Ada <ada@example.org>)\n"
                "    test_eval[dlrm-cpu-eager]_latency on local: not compared with its parent; "
                "during the bisection +20.0% (10 ms to 12 ms); confidence of the bisection 97.0%\n"
                "    No revert check: git revert does not apply\n");
}

TEST(BisectionText, OfRevertedReland_NamesRevertApproversAndEarlierIncident) {
  auto finding = finding_of(1);
  finding.reverted_by = CommitSha{std::string(40, 'd')};
  finding.approvers = {"ada", "carl-c"};
  finding.earlier = EarlierIncident{IncidentId{3}, "2026-11-18", "https://github.com/o/r/issues/7"};
  EXPECT_THAT(
      printed(range_of(finding)),
      AllOf(HasSubstr("(not compared with its parent; already reverted on trunk by dddddddddddd; "
                      "the culprit of incident 3 had the same title or pull request): aaaa"),
            HasSubstr("\n    Approved by: ada, carl-c\n"
                      "    Earlier incident: 3 of nightly 2026-11-18, "
                      "https://github.com/o/r/issues/7\n")));
}

TEST(BisectionText, OfOlderBadBuild_NamesMissingCommitsOnFirstLine) {
  auto finding = finding_of(1);
  finding.missing = 1;
  auto bisection = range_of(finding);
  bisection.request.start = CommitSha{std::string(40, 'b')};
  bisection.ancestry = Ancestry{CommitSha{std::string(40, 'c')}, 5, 0};
  EXPECT_THAT(printed(bisection),
              HasSubstr("bisection 1: Range of commits: the bad build was built from an older "
                        "commit: cccccccccccc..bbbbbbbbbbbb is missing in it (5 commits)\n"
                        "  Most likely missing improvement (not compared with its parent; the bad "
                        "build lacks it): aaaa"));
}

TEST(BisectionText, IntoMerge_NamesMergeOnFirstLine) {
  auto bisection = range_of(finding_of(1));
  bisection.outcome = BisectionOutcome::culprit;
  bisection.inside = SearchedMerge{BisectionId{1}, CommitSha{std::string(40, 'e')}, 5};
  EXPECT_THAT(printed(bisection),
              HasSubstr("bisection 1: Culprit proved: the change came with merge eeeeeeeeeeee: "
                        "culprit aaaaaaaaaaaa, one of the 5 commits that it brought\n"));
}

TEST(BisectionText, OfSeveralCommits_HasALineForEach) {
  auto finding = finding_of(2);
  finding.effects.resize(7, finding.effects.front());
  auto const text = printed(range_of(finding));
  EXPECT_THAT(text,
              HasSubstr("  One of 2 commits (it is not known which of them caused the "
                        "regression):\n    aaaa"));
  EXPECT_THAT(text, HasSubstr("\n    and 2 more\n"));
}

TEST(BisectionText, OfEnvironment_ListsDifferencesOfPackages) {
  Bisection bisection;
  bisection.state = BisectionState::done;
  bisection.outcome = BisectionOutcome::environment;
  bisection.packages = Packages{{"+ gcc 13"}, {}};
  EXPECT_THAT(printed(bisection),
              AllOf(HasSubstr(": No commit is to blame (environment): the two nightly builds"),
                    HasSubstr("+ only in the bad one\n  + gcc 13\n")));
}

TEST(BisectionText, OfSubjectWithLineBreak_IsOneLine) {
  auto bisection = range_of(finding_of(1));
  bisection.findings.front().suspects.front().subject = "Change\nreport:    forged";
  EXPECT_THAT(printed(bisection), HasSubstr("  Change\\nreport:    forged (Ada"));
}

TEST(BisectionText, ShortSha_OfUnknownCommit_IsDash) {
  EXPECT_EQ(short_sha(std::string(40, 'a')), "aaaaaaaaaaaa");
  EXPECT_EQ(short_sha(nullptr), "-");
}

}  // namespace
}  // namespace torchwatch::cli
