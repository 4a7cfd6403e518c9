#include "storage/domain/words.h"

#include <gmock/gmock.h>

#include "tests/github/stories.h"

namespace torchwatch::words {
namespace {

using github::bisection_of;
using github::series_of;
using github::sha_of;
using testing::AllOf;
using testing::EndsWith;
using testing::Field;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

auto says(std::string const& headline, std::string const& reason) {
  return AllOf(Field(&Summary::headline, headline), Field(&Summary::reason, reason));
}

Comparison comparison_of(Verdict verdict, double before, double after) {
  Comparison comparison{verdict, before, after, std::nullopt, 0.001, 8};
  if (before > 0) comparison.ratio = RatioInterval{after / before, 1.05, 1.25};
  return comparison;
}

/// One commit that made a series 12% slower: 40 ms to 44.8 ms.
struct OneCommit {
  explicit OneCommit(Verdict verdict = Verdict::regression) {
    bisection.state = BisectionState::done;
    bisection.outcome = BisectionOutcome::culprit;
    finding.suspects.resize(1);
    finding.effects.resize(1);
    effect().series = series_of("dlrm", Metric::latency);
    effect().before = 40;
    effect().after = 44.8;
    effect().probability = 0.996;
    effect().proof = comparison_of(verdict, 40, 44.8);
    effect().share = 0.96;
  }

  Effect& effect() { return finding.effects.front(); }

  std::string text() { return evidence(effect(), finding); }

  Summary said() { return summary(finding, bisection); }

  Bisection bisection;
  Finding finding;
};

/// Three commits of which one made a series slower.
struct SeveralCommits : OneCommit {
  SeveralCommits() {
    finding.suspects.resize(3);
    effect().proof.reset();
  }
};

Bisection ended(BisectionOutcome outcome) {
  auto bisection = bisection_of(github::not_reproduced_story());
  bisection.outcome = outcome;
  return bisection;
}

// ---- figures ----

TEST(WordsLevel, OfMetric_HasItsUnit) {
  EXPECT_EQ(level(Metric::latency, 12.3456), "12.35 ms");
  EXPECT_EQ(level(Metric::latency, 12345.6), "12346 ms");
  EXPECT_EQ(level(Metric::cmem, 851748782), "812.29 MiB");
  EXPECT_EQ(level(Metric::gmem, 100), "100 bytes");
  EXPECT_EQ(level(Metric::leak, 1536), "1.50 KiB/iteration");
}

TEST(WordsProbability, NearlyZeroOrOne_IsNeverRoundedToIt) {
  EXPECT_EQ(probability(0.71), "71.0%");
  EXPECT_EQ(probability(0), "less than 0.1%");
  EXPECT_EQ(probability(1), "more than 99.9%");
}

TEST(WordsChange, WithoutRatio_NamesLevels) {
  EXPECT_EQ(change(Metric::latency, comparison_of(Verdict::regression, 40, 44.8)), "+12.0%");
  EXPECT_EQ(change(Metric::leak, comparison_of(Verdict::regression, 0, 1536)),
            "from 0 to 1.50 KiB/iteration");
  EXPECT_EQ(change(Metric::leak, comparison_of(Verdict::unchanged, 0, 0)), "no change");
  EXPECT_EQ(change(Metric::leak, Comparison{}), "no figure");
}

TEST(WordsFigures, OfComparison_HaveIntervalLevelsAndPairs) {
  EXPECT_EQ(figures(Metric::latency, comparison_of(Verdict::regression, 40, 44.8)),
            "+12.0% [+5.0%, +25.0%] (40 ms to 44.8 ms, 8 pairs of processes)");
  EXPECT_EQ(figures(Metric::leak, comparison_of(Verdict::regression, 0, 1536)),
            "from 0 to 1.50 KiB/iteration (8 pairs of processes)");
}

TEST(WordsHeadline, OfSeveralChanges_NamesTheFirstAndCountsTheOthers) {
  SeriesChange const one{series_of("dlrm", Metric::cmem),
                         comparison_of(Verdict::regression, 100, 112)};
  EXPECT_EQ(headline({one}), "test_eval[dlrm-cpu-eager] cmem +12.0%");
  EXPECT_EQ(headline({one, one, one}), "test_eval[dlrm-cpu-eager] cmem +12.0% and 2 more");
  EXPECT_EQ(headline({}), "all series are muted");
}

// ---- findings ----

TEST(WordsFinding, OneProvedCommit_IsCulpritOrImprovement) {
  EXPECT_THAT(OneCommit{}.said(), says("Culprit", "proved against its parent"));
  EXPECT_THAT(OneCommit{Verdict::improvement}.said(),
              says("Improvement", "proved against its parent"));
}

TEST(WordsFinding, OneCommitWithoutProof_IsMostLikelyAndSaysWhyNotMore) {
  OneCommit commit{Verdict::inconclusive};
  EXPECT_THAT(commit.said(), says("Most likely commit", "not confirmed against its parent"));
  commit.effect().proof.reset();
  EXPECT_THAT(commit.said(), says("Most likely commit", "not compared with its parent"));
  commit.effect().after = 36;
  EXPECT_THAT(commit.said(),
              says("Most likely commit of an improvement", "not compared with its parent"));
}

TEST(WordsFinding, OneCommitOfWhichOneBuildDiffers_IsNotToBlame) {
  OneCommit commit;
  commit.effect().rebuilt = comparison_of(Verdict::unchanged, 40, 40);
  EXPECT_THAT(commit.said(),
              says("Not to blame", "one build of this commit differs, another does not"));
}

TEST(WordsFinding, SeveralCommits_HoldOneThatDidIt) {
  SeveralCommits commits;
  EXPECT_THAT(commits.said(), says("One of 3 commits", "the regression came with one of them"));
  commits.effect().after = 36;
  EXPECT_THAT(commits.said(), says("One of 3 commits", "an improvement came with one of them"));
}

TEST(WordsFinding, SeveralCommitsUnderUncertainty_AreOnlyLikely) {
  SeveralCommits commits;
  auto const likely = says("One of 3 commits", "the regression most likely came with one of them");
  commits.bisection.outcome = BisectionOutcome::undecided;
  EXPECT_THAT(commits.said(), likely);
  commits.bisection.outcome = BisectionOutcome::range;
  commits.effect().probability = 0.7;
  EXPECT_THAT(commits.said(), likely);
  commits.effect().probability = 0;
  EXPECT_THAT(commits.said(), Not(likely)) << "it is not known how sure the bisection was";
}

TEST(WordsFinding, GradualChange_SaysWhatEachCommitDid) {
  SeveralCommits commits;
  commits.finding.is_gradual = true;
  EXPECT_THAT(
      commits.said(),
      says("Many of 3 commits",
           "together they caused the regression, +3.85% each on average; there is no single "
           "culprit"));
  commits.effect().before = 0;
  EXPECT_THAT(
      commits.said(),
      says("Many of 3 commits", "together they caused the regression; there is no single culprit"));
}

// ---- effects ----

TEST(WordsEvidence, OfProvedEffect_HasProofShareLevelsAndConfidence) {
  EXPECT_EQ(OneCommit{}.text(),
            "against its parent +12.0% [+5.0%, +25.0%] (40 ms to 44.8 ms, 8 pairs of processes), "
            "explains 96% of the regression; during the bisection +12.0% (40 ms to 44.8 ms); "
            "confidence 99.6%");
}

TEST(WordsEvidence, OfCommitAgainstTheRegression_OffsetsIt) {
  OneCommit commit{Verdict::improvement};
  commit.effect().share = -0.6;
  EXPECT_THAT(commit.text(), HasSubstr("offsets 60% of the regression"));
}

TEST(WordsEvidence, WithoutProvedChange_SaysSoAndExplainsNothing) {
  auto const explains = HasSubstr("of the regression");
  auto const unchanged = OneCommit{Verdict::unchanged}.text();
  EXPECT_THAT(unchanged, AllOf(StartsWith("no change against its parent: +12.0%"), Not(explains)));
  auto const unknown = OneCommit{Verdict::inconclusive}.text();
  EXPECT_THAT(unknown, AllOf(StartsWith("inconclusive against its parent: +12.0%"), Not(explains)));
  OneCommit failed;
  failed.effect().proof = Comparison{};
  EXPECT_THAT(failed.text(),
              StartsWith("inconclusive against its parent: no figure (0 pairs of processes)"));
  failed.effect().proof.reset();
  EXPECT_THAT(failed.text(), StartsWith("not compared with its parent; during the bisection +12"));
}

TEST(WordsEvidence, OfRebuiltCommits_SaysWhatTheOtherLayoutGave) {
  OneCommit commit;
  commit.effect().rebuilt = comparison_of(Verdict::regression, 40, 44);
  EXPECT_THAT(commit.text(),
              HasSubstr("; when both were rebuilt with another layout +10.0% [+5.0%, +25.0%]"));
  commit.effect().is_doubted = true;
  EXPECT_THAT(commit.text(),
              AllOf(HasSubstr(", but this is no proof: builds of one commit differ by as much"),
                    Not(HasSubstr("of the regression"))));
  commit.effect().is_doubted = false;
  commit.effect().rebuilt->verdict = Verdict::unchanged;
  EXPECT_THAT(commit.text(),
              AllOf(HasSubstr("; no change when both were rebuilt with another layout: "),
                    Not(HasSubstr("of the regression"))));
}

TEST(WordsEvidence, OfOneOfSeveralCommits_IsWhatTheBisectionMeasured) {
  SeveralCommits commits;
  EXPECT_EQ(commits.text(), "during the bisection +12.0% (40 ms to 44.8 ms); confidence 99.6%");
  commits.effect().probability = 0;
  commits.effect().before = 0;
  EXPECT_EQ(commits.text(), "during the bisection 0 ms to 44.8 ms");
}

TEST(WordsEvidence, OfRevertCheck_SaysWhetherTheRevertHelps) {
  OneCommit commit;
  auto& check = commit.effect().revert_check.emplace(comparison_of(Verdict::improvement, 45, 40));
  EXPECT_THAT(commit.text(),
              EndsWith("; reverting it on the newest commit undoes this: -11.1% [+5.0%, +25.0%] "
                       "(45 ms to 40 ms, 8 pairs of processes)"));
  check.verdict = Verdict::unchanged;
  EXPECT_THAT(commit.text(), HasSubstr("newest commit does not undo this: "));
  check.verdict = Verdict::inconclusive;
  EXPECT_THAT(commit.text(), HasSubstr("newest commit was inconclusive: "));
  check.verdict = Verdict::unchanged;
  commit.effect().proof.reset();
  EXPECT_THAT(commit.text(), HasSubstr("newest commit: "));
}

TEST(WordsSuspicion, OfSkippedCommit_QuotesTheNewestStepOfTheLastStage) {
  auto bisection = bisection_of(github::range_story());
  auto const& finding = bisection.findings.front();
  auto const reason = [&](std::size_t suspect) {
    return full_reason(suspicion(finding.suspects.at(suspect), finding, bisection));
  };
  EXPECT_EQ(reason(0), "could not be built or measured: recipe: exit status 125");
  EXPECT_EQ(reason(2), "indistinguishable from its neighbours");
  bisection.steps.push_back(github::skipped_step(3, "c", 'c'));
  bisection.steps.back().note = "the disk is full";
  EXPECT_EQ(reason(0), "could not be built or measured: the disk is full");
  bisection.steps.push_back(github::planned_step(4, "a"));
  bisection.steps.back().stage = BisectionStage::nightlies;
  EXPECT_EQ(reason(0), "indistinguishable from its neighbours");
}

// ---- bisections ----

TEST(WordsBisection, ThatDidNotEndNormally_ShowsItsState) {
  auto bisection = bisection_of(github::culprit_story());
  bisection.state = BisectionState::failed;
  bisection.failure = "repository is gone";
  EXPECT_EQ(summary(bisection).headline, "Failed");
  EXPECT_EQ(full_reason(summary(bisection)), "repository is gone");
  bisection.state = BisectionState::cancelled;
  EXPECT_THAT(summary(bisection), says("Cancelled", ""));
  bisection.state = BisectionState::paused;
  EXPECT_THAT(summary(bisection), says("Paused", "it goes on when it is resumed"));
  bisection.state = BisectionState::running;
  EXPECT_THAT(summary(bisection), says("Running", "it has not finished yet"));
  bisection.state = BisectionState::queued;
  EXPECT_THAT(summary(bisection), says("Queued", "it has not finished yet"));
}

TEST(WordsBisection, WithFindings_NeedsNoReason) {
  auto bisection = bisection_of(github::culprit_story());
  EXPECT_THAT(summary(bisection), says("Culprit proved", ""));
  bisection.outcome = BisectionOutcome::range;
  EXPECT_THAT(summary(bisection), says("Range of commits", ""));
  bisection.findings.clear();
  EXPECT_THAT(summary(bisection), says("No commit named", ""));
  bisection.outcome = BisectionOutcome::culprit;
  EXPECT_THAT(summary(bisection), says("No commit named", ""));
}

TEST(WordsBisection, WithoutGuiltyCommit_SaysWhatDiffers) {
  auto const environment = summary(ended(BisectionOutcome::environment));
  EXPECT_EQ(environment.headline, "No commit is to blame (environment)");
  EXPECT_THAT(environment.reason, EndsWith("what the nightlies were built or packaged with"));
  auto const layout = summary(ended(BisectionOutcome::layout));
  EXPECT_EQ(layout.headline, "No commit is to blame (layout)");
  EXPECT_THAT(layout.reason, HasSubstr("built again with another layout"));
}

TEST(WordsBisection, OfNightliesAlone_SaysThatNoCommitWasBuilt) {
  auto bisection = ended(BisectionOutcome::range);
  bisection.steps.front().stage = BisectionStage::nightlies;
  EXPECT_EQ(summary(bisection).reason,
            "commits cannot be built here, so only nightlies were measured");
  bisection.outcome = BisectionOutcome::not_reproduced;
  EXPECT_THAT(summary(bisection).reason,
              StartsWith("the nightly builds did not differ when they were measured again"));
}

TEST(WordsBisection, NotReproduced_SaysWhatTheNightlyBuildsDid) {
  auto bisection = bisection_of(github::environment_story());
  bisection.outcome = BisectionOutcome::not_reproduced;
  auto& verdict = bisection.packages->changes.front().comparison.verdict;
  EXPECT_EQ(summary(bisection).headline, "Not reproduced");
  EXPECT_THAT(summary(bisection).reason, HasSubstr("built differently from the bisection's"));
  verdict = Verdict::unchanged;
  EXPECT_THAT(summary(bisection).reason, HasSubstr("nightly builds no longer differ either"));
  verdict = Verdict::improvement;
  EXPECT_THAT(summary(bisection).reason, EndsWith("it is the good one that is worse"));
  verdict = Verdict::inconclusive;
  EXPECT_THAT(summary(bisection).reason, EndsWith("nightly builds again was inconclusive"));
  bisection.packages.reset();
  EXPECT_THAT(summary(bisection).reason, EndsWith("built with different dependencies"));
}

TEST(WordsBisection, UndecidedWithoutAnEnd_QuotesWhyItIsMissing) {
  auto bisection = ended(BisectionOutcome::undecided);
  bisection.request.series = {series_of("one", Metric::latency), series_of("two", Metric::cmem)};
  BisectionStep step;
  step.fleet = "local";
  step.skipped = bisection.request.end;
  step.note = "could not be measured: crashed";
  step.benchmark = bisection.request.series[0].benchmark;
  bisection.steps = {step};
  EXPECT_THAT(summary(bisection).reason, StartsWith("the bisection ran out of measurements"))
      << "the other series may have both ends";
  step.benchmark = bisection.request.series[1].benchmark;
  bisection.steps.push_back(step);
  EXPECT_EQ(full_reason(summary(bisection)),
            "no series could be measured at both ends; the bad commit: could not be measured: "
            "crashed");
  step.skipped.reset();
  step.commits = {bisection.request.end};
  step.readings = {{Metric::cmem, {1}}};
  bisection.steps.push_back(step);
  EXPECT_THAT(summary(bisection).reason, StartsWith("the bisection ran out of measurements"))
      << "a repetition measured it";
}

TEST(WordsPackages, ThatDiffer_AreIntroduced) {
  auto bisection = bisection_of(github::environment_story());
  EXPECT_THAT(package_differences(bisection),
              says("Apart from their commits, the two nightly builds differ",
                   "- is only in the good one, + only in the bad one"));
}

TEST(WordsPackages, ThatLookAlike_AreMentionedWhereTheyAreToBlame) {
  auto bisection = bisection_of(github::environment_story());
  bisection.packages->differences.clear();
  EXPECT_THAT(package_differences(bisection),
              says("Nothing visible in the two builds explains it", "ask their maintainers"));
  bisection.outcome = BisectionOutcome::not_reproduced;
  EXPECT_THAT(package_differences(bisection), says("", ""));
  bisection.packages.reset();
  EXPECT_THAT(package_differences(bisection), says("", ""));
}

}  // namespace
}  // namespace torchwatch::words
