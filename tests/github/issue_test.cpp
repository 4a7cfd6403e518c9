#include "github/issue.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "github/bisection_story.h"
#include "github/markdown.h"
#include "storage/base/printable.h"
#include "storage/domain/project.h"
#include "tests/github/stories.h"

namespace torchwatch::github {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

ReportContext const context{{"torchbench-perf-report"}, project_url, "false-alarm"};

std::string link_of(char digit) {
  return commit_link(sha_of(digit), context.project);
}

/// Compares with tests/data/issues/NAME.md. TORCHWATCH_REGENERATE=1 rewrites the file. Then the
/// test fails, as a reminder to read the difference.
void expect_golden(IncidentStory const& story, std::string const& name) {
  auto const draft = draft_issue(story, context);
  auto const issue = draft.title + "\n\n" + draft.body;
  auto const path = std::string{TORCHWATCH_TEST_DATA "/issues/"} + name + ".md";
  if (std::getenv("TORCHWATCH_REGENERATE") != nullptr) {
    std::ofstream{path, std::ios::binary} << issue;
    FAIL() << path << " was rewritten: read the difference";
  }
  std::ifstream file{path, std::ios::binary};
  std::string const golden{std::istreambuf_iterator<char>{file}, {}};
  EXPECT_EQ(issue, golden) << "TORCHWATCH_REGENERATE=1 rewrites " << path;
}

TEST(Issue, NamesTheCulpritWithItsProof) {
  expect_golden(culprit_story(), "culprit");
}

TEST(Issue, ListsTheRangeWithReasons) {
  expect_golden(range_story(), "range");
}

TEST(Issue, SharesAChangeBetweenTwoCulprits) {
  expect_golden(two_culprits_story(), "two_culprits");
}

TEST(Issue, ThanksForAnImprovement) {
  expect_golden(improvement_story(), "improvement");
}

TEST(Issue, SaysWhatIsLikelyWhenTheBudgetEnded) {
  expect_golden(undecided_story(), "undecided");
}

TEST(Issue, SaysWhenItWasNotReproduced) {
  expect_golden(not_reproduced_story(), "not_reproduced");
}

TEST(Issue, BlamesNoCommitForWhatTheNightliesWereBuiltWith) {
  expect_golden(environment_story(), "environment");
}

TEST(Issue, BeginsWithItsState) {
  expect_golden(fixed_story(), "fixed");
  expect_golden(ruled_story(RulingKind::accept), "accepted");
}

TEST(Issue, DoesWithoutABisection) {
  expect_golden(plain_story(), "not_searched");
}

TEST(Issue, NamesTheSeriesThatWereComparedWithALaterNightly) {
  auto story = plain_story();
  Nightly later;
  later.id = NightlyId{7};
  later.date = "2026-11-19";
  story.later_baselines[later.id] = later;
  story.incident.later_baselines[series_of("dlrm", Metric::leak)] = later.id;
  EXPECT_THAT(draft_issue(story, context).body,
              HasSubstr("Compared with nightly " + verbatim("2026-11-19") +
                        ", the last that judged them: " +
                        verbatim(name_of(series_of("dlrm", Metric::leak))) + " on "));
}

TEST(Issue, CannotBeBrokenByForeignText) {
  expect_golden(hostile_story(), "hostile");
}

TEST(Issue, IsUtf8AndEscapesBidirectionalControls) {
  auto story = culprit_story();
  auto& culprit = story.bisections.front().findings.front().suspects.front();
  culprit.subject = "Fuse caf\xe9 \u202ebias";
  culprit.author = "Jos\xe9 \u2066Doe <jose@example.org>";
  story.nightly.version = "2.11\u202e";
  story.incident.changes.back().series.benchmark.model = "dlrm\xff\u202e";

  auto const draft = draft_issue(story, context);

  EXPECT_THAT(draft.title, HasSubstr("dlrm\\xff\\u202e"));
  EXPECT_THAT(draft.body, HasSubstr("`Fuse caf\\xe9 \\u202ebias`"));
  EXPECT_THAT(draft.body, HasSubstr("`Jos\\xe9 \\u2066Doe`"));
  EXPECT_THAT(draft.body, HasSubstr("`2.11\\u202e`"));
  EXPECT_EQ(printable_lines(draft.body), draft.body);
}

TEST(Issue, NamesTheCulpritsOfASeriesOfAllBisections) {
  auto story = culprit_story();
  auto second = story.bisections.front();
  second.findings = {{{taping_commit()}, {latency_effect(44.3, 46.33, 0.4)}}};
  story.bisections.push_back(second);
  auto const body = draft_issue(story, context).body;
  EXPECT_THAT(body, HasSubstr("| " + link_of('c') + ", " + link_of('f') + " (40%) |"));
  EXPECT_THAT(body, HasSubstr("| 6 | " + link_of('c') + " |"));
  EXPECT_THAT(body, HasSubstr("| 4 | not explained |"));
}

TEST(Issue, SaysInItsFirstLinesThatTheCulpritIsRevertedAlready) {
  auto story = culprit_story();
  story.bisections.front().findings.front().reverted_by = sha_of('d');
  story.bisections.push_back(story.bisections.front());
  auto const body = draft_issue(story, context).body;
  auto const line = "\n\n**Already reverted on trunk by " + link_of('d') + ".** Culprit: ";
  EXPECT_THAT(body, HasSubstr(line));
  EXPECT_LT(body.find(line), body.find("| benchmark |"));
  EXPECT_EQ(body.find("Already"), body.rfind("Already")) << "once for both bisections";
}

TEST(Issue, SaysInItsFirstLinesThatTheNightlyIsOfAnOlderCommit) {
  auto story = culprit_story();
  story.bisections.front().ancestry = Ancestry{story.nightly.commit, 5, 0};
  story.bisections.front().findings.front().missing = 1;
  story.bisections.push_back(story.bisections.front());
  auto const body = draft_issue(story, context).body;
  std::string const line = "\n\n**Built from an older commit:** ";
  EXPECT_THAT(body, HasSubstr(line));
  EXPECT_LT(body.find(line), body.find("| benchmark |"));
  EXPECT_EQ(body.find("**Built from"), body.rfind("**Built from")) << "once for both bisections";
  EXPECT_THAT(body, HasSubstr("| 6 | " + link_of('c') + " (missing) |"));
}

TEST(Issue, NamesTheMergeThatACulpritCameWith) {
  auto story = culprit_story();
  auto outer = story.bisections.front();
  outer.findings.front().suspects.front().sha = sha_of('e');
  story.bisections.front().inside = SearchedMerge{outer.id, sha_of('e'), 5};
  story.bisections.insert(story.bisections.begin(), outer);
  EXPECT_THAT(draft_issue(story, context).body,
              HasSubstr("| 6 | " + link_of('e') + ", " + link_of('c') + " (came with " +
                        link_of('e') + ") |"));
}

TEST(Issue, NamesACulpritOnceThatTwoSearchesFound) {
  auto story = culprit_story();
  story.bisections.push_back(story.bisections.front());
  EXPECT_THAT(draft_issue(story, context).body, HasSubstr("| 6 | " + link_of('c') + " |"));
}

TEST(Issue, OfAMetricWhoseHigherValuesAreBetter_SaysSoNextToItsName) {
  MetricKind const kind{.unit = "1/s", .is_higher_better = true};
  auto const tokens = declare_metric("issue_tokens", kind).value();
  auto story = plain_story();
  story.incident.changes = {
      change_of(series_of("resnet18", Metric::latency), 40, 41, {1.025, 1.02, 1.03}),
      change_of(series_of("nanogpt", tokens), 1000, 880, {0.88, 0.86, 0.9})};

  auto const draft = draft_issue(story, context);

  EXPECT_THAT(draft.title, HasSubstr("test_eval[nanogpt-cpu-eager] has a 12% lower issue_tokens"));
  EXPECT_THAT(draft.body, HasSubstr("| issue_tokens (higher is better) |"));
  EXPECT_THAT(draft.body, HasSubstr("| 1000 1/s | 880 1/s | -12.0% (at least 10.0% less, "));
  EXPECT_THAT(draft.body, HasSubstr("--metric issue_tokens --fleet 'local'"));
}

TEST(Issue, SaysHowToSearchAsItWasSearched) {
  auto story = culprit_story();
  story.bisections.front().request.threshold = 0.03;
  EXPECT_THAT(draft_issue(story, context).body,
              HasSubstr("--metric leak --fleet 'local' --threshold 0.03\n"));
}

TEST(Issue, ExplainsNoSeriesByAnImprovementOrWithoutProof) {
  EXPECT_THAT(draft_issue(improvement_story(), context).body,
              HasSubstr("| 6 | " + link_of('f') + " |"));
  auto story = culprit_story();
  story.bisections.front().findings.front().effects.back().proof->verdict = Verdict::inconclusive;
  EXPECT_THAT(draft_issue(story, context).body,
              HasSubstr("[+10.1%, +14.5%] | 6 | not explained |"));
}

TEST(Issue, OfSeriesInTwoBisections_ShowsTheCulpritInsteadOfTheRange) {
  auto story = range_story();
  auto again = two_culprits_story().bisections.front();
  again.findings.resize(1);
  story.bisections.push_back(again);
  auto const body = draft_issue(story, context).body;
  auto const opening = body.substr(0, body.find("| benchmark |"));
  EXPECT_THAT(opening, HasSubstr("is 7.4% slower since " + link_of('c')));
  EXPECT_THAT(opening, Not(HasSubstr("since one of")));
}

TEST(Issue, OfMissingCommit_SaysThatTheCandidateLacksIt) {
  auto story = culprit_story();
  story.bisections.front().findings.front().missing = 1;
  EXPECT_THAT(
      draft_issue(story, context).body,
      HasSubstr("uses 29% more peak CPU memory because the candidate lacks " + link_of('c') + " "));
}

TEST(Issue, OfCommitWithoutProof_IsNotSure) {
  auto story = culprit_story();
  for (auto& effect : story.bisections.front().findings.front().effects)
    effect.proof->verdict = Verdict::inconclusive;
  EXPECT_THAT(draft_issue(story, context).body,
              AllOf(HasSubstr("memory, most likely since " + link_of('c')),
                    HasSubstr("Confidence more than 99.9%, but not proved against its parent.")));
}

TEST(Issue, OfGradualChange_BlamesNoSingleCommit) {
  auto story = range_story();
  story.bisections.front().findings.front().is_gradual = true;
  EXPECT_THAT(draft_issue(story, context).body,
              HasSubstr("is 12% slower since 3 commits from " + link_of('c') + " to " +
                        link_of('e') + ", of which many contribute a little each."));
}

TEST(Issue, OfLayout_BlamesNoCommit) {
  auto story = culprit_story();
  auto& effects = story.bisections.front().findings.front().effects;
  effects.erase(effects.begin());
  effects.front().rebuilt = effects.front().proof;
  effects.front().rebuilt->verdict = Verdict::unchanged;
  EXPECT_THAT(draft_issue(story, context).body,
              AllOf(HasSubstr("is 12% slower in only one of two builds of " + link_of('c')),
                    HasSubstr(", so the commit is not to blame. Confidence 99.6%.")));
}

TEST(Issue, OfUnfinishedBisection_SaysSoAndOffersNoSecondOne) {
  auto story = not_reproduced_story();
  story.bisections.front().state = BisectionState::running;
  EXPECT_THAT(draft_issue(story, context).body,
              AllOf(HasSubstr("No commit is known yet: the bisection is running."),
                    Not(HasSubstr("rebisect"))));
}

TEST(Issue, OfApprovedCommit_NamesWhomToAskWithoutAMention) {
  auto story = culprit_story();
  auto& approvers = story.bisections.front().findings.front().approvers;
  EXPECT_THAT(draft_issue(story, context).body, Not(HasSubstr("approved")));
  approvers = {"ada", "carl-c", "|x"};
  EXPECT_THAT(draft_issue(story, context).body,
              HasSubstr("- **Ask** `Jane Doe`, the author of " + link_of('c') +
                        ", or `ada`, `carl-c`, <code>&#124;x</code>, who approved it, in "
                        "https://github.com/pytorch/pytorch/pull/86000.\n"));
  approvers.assign(100, "ada");
  EXPECT_THAT(draft_issue(story, context).body,
              HasSubstr(", or `ada`, `ada`, `ada`, `ada`, `ada`, who approved it"));
}

TEST(Issue, WithoutALabel_NamesTheCommandForAFalseAlarm) {
  auto const body = draft_issue(culprit_story(), {}).body;
  EXPECT_THAT(body, HasSubstr("torchwatch rule false_alarm --incident 1 "));
  EXPECT_THAT(body, Not(HasSubstr("put the label")));
}

TEST(Issue, WithManyFindings_ShowsThreeFirst) {
  auto story = culprit_story();
  auto& findings = story.bisections.front().findings;
  findings.resize(5, findings.front());
  for (std::size_t i = 0; i < findings.size(); ++i)
    findings[i].suspects.front().sha = sha_of(static_cast<char>('1' + i));
  EXPECT_THAT(draft_issue(story, context).body, HasSubstr("2 more under \"Bisection\".\n\n"));
}

TEST(Issue, KeyIsTheIncidentAndNothingElse) {
  auto story = culprit_story();
  auto const key = key_of(story);
  EXPECT_THAT(key, testing::MatchesRegex("[0-9a-f]{32}"));
  std::ranges::reverse(story.incident.changes);
  story.incident.id.value = 7;
  story.bisections.clear();
  story.fingerprint.clear();
  EXPECT_EQ(key_of(story), key);
  story.incident.changes.front().series.fleet = "other";
  EXPECT_NE(key_of(story), key);
  story = culprit_story();
  story.nightly.commit = sha_of('9');
  EXPECT_NE(key_of(story), key);
}

TEST(Issue, CarriesKeyAndLabels) {
  auto const draft = draft_issue(culprit_story(), context);
  EXPECT_THAT(draft.body, StartsWith("<!-- torchwatch-key: " + draft.key + " -->"));
  EXPECT_EQ(draft.labels, context.labels);
}

TEST(Issue, ShowsNoAddressOfAnAuthor) {
  EXPECT_THAT(draft_issue(culprit_story(), context).body, Not(HasSubstr("example.org")));
}

TEST(Issue, ShowsNoPathOfTheHost) {
  auto story = culprit_story();
  story.fingerprint = R"({"library":"/srv/lib/libgomp.so.1"})";
  auto const body = draft_issue(story, context).body;
  EXPECT_THAT(body, HasSubstr("`libgomp.so.1`"));
  EXPECT_THAT(body, Not(HasSubstr("/srv")));
}

TEST(Issue, HoldsGithubsLimitsAndSaysSo) {
  auto story = range_story();
  auto const wide = std::string(120, 'x') + "\xE2\x82\xAC";
  for (int i = 0; i < 400; ++i) {
    story.incident.changes.push_back(story.incident.changes.front());
    story.incident.changes.back().series.benchmark.model = wide + std::to_string(i);
    story.incident.changes.back().comparison.ratio->ratio = 9;
    story.bisections.front().findings.front().suspects.push_back(commit_of('c', wide, wide, i));
  }
  auto const draft = draft_issue(story, context);
  EXPECT_LE(draft.title.size(), max_title_bytes);
  EXPECT_LE(draft.body.size(), max_body_bytes);
  EXPECT_GT(draft.body.size(), max_body_bytes - 1000);
  EXPECT_THAT(draft.body, HasSubstr(marker_of(draft.key)));
  EXPECT_THAT(draft.body, HasSubstr("303 more are not shown."));
  EXPECT_THAT(draft.body, HasSubstr("torchwatch bisect --start"));
  EXPECT_THAT(draft.body, EndsWith("GitHub accepts at most 65536 characters.*\n"));
}

TEST(Issue, GivesTranscriptsTheRoomThatIsLeft) {
  auto story = culprit_story();
  auto& steps = story.bisections.front().steps;
  for (int turn = 4; turn <= 100; ++turn) {
    steps.push_back(steps.front());
    steps.back().wave = turn;
    steps.back().commits.resize(9, sha_of('d'));
  }
  auto const body = draft_issue(story, context).body;
  EXPECT_LE(body.size(), max_body_bytes);
  EXPECT_GT(body.size(), max_body_bytes - 2000);
  EXPECT_THAT(body, HasSubstr("| 100 | "));
  EXPECT_THAT(body, Not(HasSubstr("Cut here")));
  EXPECT_THAT(body, EndsWith("\n</details>\n\n"));
}

TEST(Issue, CutsOneEndlessLineBetweenCodePoints) {
  auto story = plain_story();
  std::string value;
  for (int i = 0; i < 30'000; ++i)
    value += "\xE2\x82\xAC";
  story.fingerprint = R"({"cpu":")" + value + "\"}";
  auto const body = draft_issue(story, context).body;
  EXPECT_LE(body.size(), max_body_bytes);
  EXPECT_THAT(body, HasSubstr("\xE2\x82\xAC\n\n*Cut here"));
}

TEST(Issue, NamesAnEarlierIncidentThatWasNotFixed) {
  auto story = plain_story();
  story.events = {event_of(IncidentEventKind::opened)};
  EXPECT_THAT(draft_issue(story, context).body, Not(HasSubstr("**Earlier incident:**")));
  story.events[0].detail = "incident 3 of nightly 2026-11-02 was not fixed";
  EXPECT_THAT(
      draft_issue(story, context).body,
      HasSubstr("**Earlier incident:** `incident 3 of nightly 2026-11-02 was not fixed`.\n"));
}

}  // namespace
}  // namespace torchwatch::github
