#include "storage/domain/words.h"

#include <gmock/gmock.h>

#include "tests/github/stories.h"

namespace torchwatch::words {
namespace {

using github::bisection_of;
using github::series_of;
using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

/// "Headline: reason".
std::string text_of(Summary const& summary) {
  auto const reason = full_reason(summary);
  return summary.headline + (reason.empty() ? "" : ": " + reason);
}

Comparison comparison_of(Verdict verdict, double before, double after) {
  Comparison comparison{verdict, before, after, std::nullopt, 0.001, 8};
  if (before > 0) {
    auto const ratio = after / before;
    comparison.ratio = RatioInterval{ratio, ratio - 0.07, ratio + 0.07};
  }
  return comparison;
}

/// One commit that made a series 12% slower, and whose proof has this verdict.
struct OneCommit {
  explicit OneCommit(Verdict verdict = Verdict::regression) {
    finding.suspects.resize(1);
    effect.series = series_of("dlrm", Metric::latency);
    effect.before = 40;
    effect.after = 44.8;
    effect.probability = 0.996;
    effect.proof = comparison_of(verdict, 40, 44.8);
    effect.share = 0.96;
  }

  std::string claim() {
    finding.effects = {effect};
    return text_of(summary(finding, bisection));
  }

  std::string evidence() const { return words::evidence(effect, finding); }

  Bisection bisection;
  Finding finding;
  Effect effect;
};

/// Three commits of which one made a series slower.
struct ThreeCommits : OneCommit {
  ThreeCommits() {
    finding.suspects.resize(3);
    effect.proof.reset();
  }
};

Bisection ended(BisectionOutcome outcome, IncidentStory const& story) {
  auto bisection = bisection_of(story);
  bisection.outcome = outcome;
  return bisection;
}

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

TEST(WordsFigures, OfComparison_HaveAllThatItHas) {
  EXPECT_EQ(figures(Metric::latency, comparison_of(Verdict::regression, 40, 44.8)),
            "+12.0% (at least +5.0%, confidence 99.9%; 40 ms to 44.8 ms, 8 pairs of processes)");
  EXPECT_EQ(figures(Metric::leak, comparison_of(Verdict::regression, 0, 1536)),
            "from 0 to 1.50 KiB/iteration (confidence 99.9%; 8 pairs of processes)");
  EXPECT_EQ(change(Metric::leak, comparison_of(Verdict::unchanged, 0, 0)), "no change");
  EXPECT_EQ(change(Metric::leak, Comparison{}), "no figure");
}

TEST(WordsConfidence, OfErrorBound_IsNeverMoreThan999PerMille) {
  EXPECT_EQ(confidence(0.01), "99%");
  EXPECT_EQ(confidence(0.001), "99.9%");
  EXPECT_EQ(confidence(0.0001), "99.9%");
  EXPECT_EQ(confidence(0), "99.9%");
}

TEST(WordsCertainty, OfChange_IsTheEndOfTheIntervalNextToNoChange) {
  EXPECT_EQ(certainty(comparison_of(Verdict::regression, 40, 44.8)),
            "at least +5.0%, confidence 99.9%");
  EXPECT_EQ(certainty(comparison_of(Verdict::improvement, 40, 34)),
            "at least 8.0% less, confidence 99.9%");
}

TEST(WordsCertainty, OfChangeWhoseIntervalBeginsAtNoChange_IsItsDirection) {
  auto comparison = comparison_of(Verdict::regression, 40, 44.8);
  comparison.ratio->low = 1;
  EXPECT_EQ(certainty(comparison), "an increase, confidence 99.9%");
  comparison = comparison_of(Verdict::improvement, 40, 34);
  comparison.ratio->high = 1;
  EXPECT_EQ(certainty(comparison), "a decrease, confidence 99.9%");
}

TEST(WordsCertainty, OfEqualProcesses_IsExact) {
  auto comparison = comparison_of(Verdict::regression, 100, 125);
  comparison.ratio = RatioInterval{1.25, 1.25, 1.25};
  comparison.error_bound = 0;
  EXPECT_EQ(certainty(comparison), "exact, confidence 99.9%");
}

TEST(WordsCertainty, WithoutChange_IsTheWholeInterval) {
  auto comparison = comparison_of(Verdict::unchanged, 40, 40);
  comparison.error_bound = 0.01;
  EXPECT_EQ(certainty(comparison), "between -7.0% and +7.0%, confidence 99%");
  comparison.verdict = Verdict::inconclusive;
  EXPECT_EQ(certainty(comparison), "between -7.0% and +7.0%, confidence 99%");
  comparison.ratio->low = 0;
  EXPECT_EQ(certainty(comparison), "too few pairs for a range");
}

TEST(WordsCertainty, WithoutRatio_IsTheConfidenceOfTheVerdict) {
  EXPECT_EQ(certainty(comparison_of(Verdict::regression, 0, 1536)), "confidence 99.9%");
  EXPECT_EQ(certainty(Comparison{}), "");
}

TEST(WordsClaim, OfChange_SaysHowMuchInTheWordsOfItsMetric) {
  EXPECT_EQ(claim(Metric::latency, 40, 44.8), "is 12% slower");
  EXPECT_EQ(claim(Metric::latency, 40, 42.96), "is 7.4% slower");
  EXPECT_EQ(claim(Metric::latency, 40, 37), "takes 7.5% less time");
  EXPECT_EQ(claim(Metric::latency, 0, 37), "takes 37 ms instead of 0 ms");
  EXPECT_EQ(claim(Metric::cmem, 100, 129), "uses 29% more peak CPU memory");
  EXPECT_EQ(claim(Metric::gmem, 100, 95), "uses 5.0% less peak GPU memory");
  EXPECT_EQ(claim(Metric::gmem, 0, 2048), "uses 2.00 KiB of peak GPU memory instead of 0 bytes");
  EXPECT_EQ(claim(Metric::leak, 0, 1536), "leaks 1.50 KiB per iteration");
  EXPECT_EQ(claim(Metric::leak, 100, 150), "leaks 50% more per iteration");
  EXPECT_EQ(claim(Metric::leak, 100, 0), "no longer leaks");
  EXPECT_EQ(claim(Metric::latency, 40, 40), "did not change");
}

TEST(WordsClaim, OfAMetricOfASuite_SaysHigherOrLower) {
  MetricKind const kind{.unit = "1/s", .is_higher_better = true};
  auto const tokens = declare_metric("test_tokens_per_s", kind).value();
  EXPECT_EQ(level(tokens, 1234.5), "1234 1/s");
  EXPECT_EQ(claim(tokens, 100, 88), "has a 12% lower test_tokens_per_s");
  EXPECT_EQ(claim(tokens, 100, 107.4), "has a 7.4% higher test_tokens_per_s");
  Comparison const drop{Verdict::regression, 100, 88, RatioInterval{0.88, 0.86, 0.9}, 0.001, 9};
  EXPECT_EQ(figures(tokens, drop),
            "-12.0% (at least 10.0% less, confidence 99.9%; 100 1/s to 88 1/s, 9 pairs of "
            "processes)");
}

TEST(WordsMetric, OfASuite_HasItsDirectionAndIsListedAfterTheNativeOnes) {
  MetricKind const kind{.unit = "1/s", .is_higher_better = true};
  auto const tokens = declare_metric("test_tokens_per_s", kind).value();
  EXPECT_EQ(better(tokens), "higher");
  EXPECT_EQ(better(Metric::latency), "lower");
  EXPECT_EQ(label(tokens), "test_tokens_per_s (higher is better)");
  EXPECT_EQ(label(Metric::cmem), "cmem");
  EXPECT_THAT(metric_names(), StartsWith(R"("latency", "cmem", "gmem", "leak", ")"));
  EXPECT_THAT(metric_names(), HasSubstr(R"(, "test_tokens_per_s")"));
}

TEST(WordsLevel, OfAnyUnit_HasFourDigitsAndTheUnit) {
  EXPECT_EQ(level("s", 12.345), "12.35 s");
  EXPECT_EQ(level("1/s", 123456.7), "123457 1/s");
  EXPECT_EQ(level("1", 14), "14") << "a count";
  EXPECT_EQ(level("bytes", 2048), "2.00 KiB");
}

TEST(WordsHeadline, OfSeveralChanges_ClaimsTheFirstAndCountsTheOthers) {
  SeriesChange const one{series_of("dlrm", Metric::cmem),
                         comparison_of(Verdict::regression, 100, 112)};
  EXPECT_EQ(headline({one}), "test_eval[dlrm-cpu-eager] uses 12% more peak CPU memory");
  EXPECT_EQ(headline({one, one, one}, "nightly 2026-11-20"),
            "test_eval[dlrm-cpu-eager] uses 12% more peak CPU memory since nightly 2026-11-20 (and "
            "2 more series)");
  EXPECT_EQ(headline({}), "all series are muted");
}

TEST(WordsFinding, OneProvedCommit_IsCulpritOrImprovement) {
  EXPECT_EQ(OneCommit{}.claim(), "Culprit: proved against its parent");
  EXPECT_EQ(OneCommit{Verdict::improvement}.claim(), "Improvement: proved against its parent");
}

TEST(WordsFinding, OneCommitWithoutProof_IsMostLikelyAndSaysWhyNotMore) {
  OneCommit commit{Verdict::inconclusive};
  EXPECT_EQ(commit.claim(), "Most likely commit: not confirmed against its parent");
  commit.effect.proof.reset();
  EXPECT_EQ(commit.claim(), "Most likely commit: not compared with its parent");
  commit.effect.after = 36;
  EXPECT_EQ(commit.claim(), "Most likely commit of an improvement: not compared with its parent");
}

TEST(WordsFinding, OneCommitOfWhichOneBuildDiffers_IsNotToBlame) {
  OneCommit commit;
  commit.effect.rebuilt = comparison_of(Verdict::unchanged, 40, 40);
  EXPECT_EQ(commit.claim(), "Not to blame: one build of this commit differs, another does not");
}

TEST(WordsFinding, SeveralCommits_HoldOneThatDidItAsFarAsThatIsSure) {
  ThreeCommits commits;
  auto const sure = "One of 3 commits: it is not known which of them caused the regression";
  auto const likely =
      "Most likely one of 3 commits: it is not known which of them caused the regression";
  EXPECT_EQ(commits.claim(), sure);
  commits.bisection.outcome = BisectionOutcome::undecided;
  EXPECT_EQ(commits.claim(), likely);
  commits.bisection.outcome = BisectionOutcome::range;
  commits.effect.probability = 0.7;
  EXPECT_EQ(commits.claim(), likely);
  commits.effect.probability = 1;
  commits.effect.after = 36;
  EXPECT_EQ(commits.claim(),
            "One of 3 commits: it is not known which of them caused an improvement");
}

TEST(WordsFinding, GradualChange_SaysWhatEachCommitDid) {
  ThreeCommits commits;
  commits.finding.is_gradual = true;
  EXPECT_EQ(commits.claim(),
            "Many of 3 commits: together they caused the regression, +3.85% each on average; there "
            "is no single culprit");
  commits.effect.before = 0;
  EXPECT_THAT(commits.claim(), HasSubstr("caused the regression; there is no single culprit"));
}

TEST(WordsFinding, OfRevertedCommit_NamesTheRevert) {
  OneCommit commit;
  commit.finding.reverted_by = github::sha_of('d');
  EXPECT_EQ(commit.claim(),
            "Culprit: proved against its parent; already reverted on trunk by dddddddddddd");
}

TEST(WordsFinding, OfCommitThatLandedBefore_NamesTheEarlierIncident) {
  OneCommit commit;
  commit.finding.earlier = EarlierIncident{IncidentId{3}, "2026-11-18", ""};
  EXPECT_EQ(commit.claim(),
            "Culprit: proved against its parent; the culprit of incident 3 had the same title or "
            "pull request");
}

TEST(WordsFinding, OfCommitThatTheBadBuildLacks_CallsItMissing) {
  OneCommit commit;
  commit.finding.missing = 1;
  EXPECT_EQ(commit.claim(),
            "Missing improvement: proved against its parent; the bad build lacks it");
  EXPECT_THAT(commit.evidence(), StartsWith("without it +12.0% "));
  commit.effect.proof.reset();
  EXPECT_THAT(commit.claim(), StartsWith("Most likely missing improvement: not compared with"));
  commit.effect.after = 36;
  EXPECT_THAT(commit.claim(), StartsWith("Most likely missing regression: "));
}

TEST(WordsFinding, OfCommitsThatTheBadBuildLacks_SaysHowMany) {
  ThreeCommits commits;
  commits.finding.missing = 3;
  EXPECT_EQ(commits.claim(),
            "One of 3 commits: it is not known which of them caused the regression; the bad build "
            "lacks all of them");
  commits.finding.missing = 2;
  EXPECT_THAT(commits.claim(), EndsWith("; the bad build lacks the first 2 of them"));
}

TEST(WordsFinding, OfMerge_SaysHowManyCommitsItBrought) {
  OneCommit commit;
  commit.finding.merged = 5;
  EXPECT_EQ(commit.claim(), "Culprit: proved against its parent; it is a merge of 5 commits");
  commit.finding.searched_by = BisectionId{2};
  EXPECT_THAT(commit.claim(), EndsWith("; it is a merge of 5 commits, searched by bisection 2"));
}

TEST(WordsEvidence, OfProvedEffect_HasProofShareLevelsAndConfidence) {
  EXPECT_EQ(
      OneCommit{}.evidence(),
      "against its parent +12.0% (at least +5.0%, confidence 99.9%; 40 ms to 44.8 ms, 8 pairs "
      "of processes), explains 96% of the regression; during the bisection +12.0% (40 ms to "
      "44.8 ms); confidence of the bisection 99.6%");
  OneCommit against{Verdict::improvement};
  against.effect.share = -0.6;
  EXPECT_THAT(against.evidence(), HasSubstr("offsets 60% of the regression"));
}

TEST(WordsEvidence, WithoutProvedChange_SaysSoAndExplainsNothing) {
  OneCommit commit{Verdict::unchanged};
  EXPECT_THAT(commit.evidence(), StartsWith("no change against its parent: +12.0%"));
  EXPECT_THAT(commit.evidence(), Not(HasSubstr("of the regression")));
  commit.effect.proof = Comparison{};
  EXPECT_THAT(commit.evidence(),
              StartsWith("inconclusive against its parent: no figure (0 pairs of processes); "));
  commit.effect.proof.reset();
  EXPECT_THAT(commit.evidence(), StartsWith("not compared with its parent; during the bisection"));
}

TEST(WordsEvidence, OfRebuiltCommits_SaysWhatTheOtherLayoutGave) {
  OneCommit commit;
  commit.effect.rebuilt = comparison_of(Verdict::regression, 40, 44);
  EXPECT_THAT(
      commit.evidence(),
      HasSubstr("regression; when both were rebuilt with another layout +10.0% (at least +3.0%,"));
  commit.effect.is_doubted = true;
  EXPECT_THAT(commit.evidence(),
              AllOf(HasSubstr(", but this is no proof: builds of one commit differ by as much"),
                    Not(HasSubstr("of the regression"))));
  commit.effect.rebuilt->verdict = Verdict::unchanged;
  EXPECT_THAT(commit.evidence(),
              HasSubstr("; no change when both were rebuilt with another layout: +10.0%"));
}

TEST(WordsEvidence, OfOneOfSeveralCommits_IsWhatTheBisectionMeasured) {
  ThreeCommits commits;
  EXPECT_EQ(commits.evidence(),
            "during the bisection +12.0% (40 ms to 44.8 ms); confidence of the bisection 99.6%");
  commits.effect.before = 0;
  EXPECT_EQ(commits.evidence(),
            "during the bisection 0 ms to 44.8 ms; confidence of the bisection 99.6%");
}

TEST(WordsEvidence, OfRevertCheck_SaysWhetherTheRevertHelps) {
  OneCommit commit;
  auto& check = commit.effect.revert_check.emplace(comparison_of(Verdict::improvement, 45, 40));
  EXPECT_THAT(commit.evidence(),
              EndsWith("; reverting it on the newest commit undoes this: -11.1% (at least 4.1% "
                       "less, confidence 99.9%; 45 ms to 40 ms, 8 pairs of processes)"));
  check.verdict = Verdict::unchanged;
  EXPECT_THAT(commit.evidence(), HasSubstr("newest commit does not undo this: "));
  commit.effect.proof.reset();
  EXPECT_THAT(commit.evidence(), HasSubstr("newest commit: "));
  check.verdict = Verdict::inconclusive;
  EXPECT_THAT(commit.evidence(), HasSubstr("newest commit was inconclusive: "));
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

TEST(WordsBisection, ThatDidNotEndNormally_ShowsItsState) {
  auto bisection = bisection_of(github::culprit_story());
  bisection.failure = "repository is gone";
  auto const in_state = [&](BisectionState state) {
    bisection.state = state;
    return text_of(summary(bisection));
  };
  EXPECT_EQ(in_state(BisectionState::failed), "Failed: repository is gone");
  EXPECT_EQ(in_state(BisectionState::cancelled), "Cancelled");
  EXPECT_EQ(in_state(BisectionState::paused), "Paused: it goes on when it is resumed");
  EXPECT_EQ(in_state(BisectionState::running), "Running: it has not finished yet");
  EXPECT_EQ(in_state(BisectionState::queued), "Queued: it has not finished yet");
}

TEST(WordsBisection, OfOlderBadBuild_SaysWhatIsMissingInIt) {
  auto bisection = bisection_of(github::culprit_story());
  bisection.ancestry = Ancestry{github::sha_of('b'), 5, 0};
  std::string const older =
      "the bad build was built from an older commit: bbbbbbbbbbbb..aaaaaaaaaaaa is missing in it "
      "(5 commits)";
  EXPECT_EQ(text_of(summary(bisection)), "Culprit proved: " + older);
  bisection.state = BisectionState::queued;
  EXPECT_EQ(text_of(summary(bisection)), "Queued: " + older + "; it has not finished yet");
  bisection.state = BisectionState::failed;
  bisection.failure = "end abc is unbuildable";
  EXPECT_EQ(text_of(summary(bisection)),
            "Failed: " + older + "; why the bisection failed: end abc is unbuildable");
}

TEST(WordsBisection, OfBadBuildOnASideBranch_SaysWhatEitherSideLacks) {
  auto bisection = bisection_of(github::culprit_story());
  bisection.ancestry = Ancestry{github::sha_of('e'), 1, 2};
  EXPECT_EQ(text_of(summary(bisection)),
            "Culprit proved: the bad build was built from a side branch: "
            "eeeeeeeeeeee..aaaaaaaaaaaa is missing in it (1 commit), eeeeeeeeeeee..bbbbbbbbbbbb is "
            "only in it (2 commits)");
}

TEST(WordsBisection, IntoMerge_SaysWhatCameWithIt) {
  auto bisection = bisection_of(github::culprit_story());
  EXPECT_EQ(searched_merge(bisection), "");
  bisection.inside = SearchedMerge{BisectionId{1}, github::sha_of('e'), 5};
  std::string const merge = "the change came with merge eeeeeeeeeeee";
  EXPECT_EQ(
      text_of(summary(bisection)),
      "Culprit proved: " + merge + ": culprit cccccccccccc, one of the 5 commits that it brought");
  bisection.outcome = BisectionOutcome::range;
  EXPECT_EQ(text_of(summary(bisection)),
            "Range of commits: " + merge + "; searched in the 5 commits that it brought");
  bisection.state = BisectionState::failed;
  bisection.failure = "end abc is unbuildable";
  EXPECT_EQ(text_of(summary(bisection)),
            "Failed: " + merge +
                "; searched in the 5 commits that it brought; why the bisection failed: end abc is "
                "unbuildable");
}

TEST(WordsBisection, IntoMergeWhoseBranchShowsNothing_NamesTheMerge) {
  auto bisection = bisection_of(github::not_reproduced_story());
  bisection.inside = SearchedMerge{BisectionId{1}, github::sha_of('e'), 1};
  EXPECT_EQ(text_of(summary(bisection)),
            "The merge itself: the change came with merge eeeeeeeeeeee; both sides together cause "
            "it, since it is not in the 1 commit that it brought");
}

TEST(WordsBisection, IntoMergeThatTheBadBuildLacks_SaysSo) {
  auto bisection = bisection_of(github::culprit_story());
  bisection.inside = SearchedMerge{BisectionId{1}, github::sha_of('e'), 5};
  bisection.ancestry = Ancestry{github::sha_of('b'), 5, 0};
  EXPECT_THAT(text_of(summary(bisection)),
              StartsWith("Culprit proved: the bad build lacks merge eeeeeeeeeeee: culprit "));
}

TEST(WordsBisection, WithFindings_NeedsNoReason) {
  auto bisection = bisection_of(github::culprit_story());
  EXPECT_EQ(text_of(summary(bisection)), "Culprit proved");
  bisection.outcome = BisectionOutcome::range;
  EXPECT_EQ(text_of(summary(bisection)), "Range of commits");
  bisection.findings.clear();
  EXPECT_EQ(text_of(summary(bisection)), "No commit named");
  bisection.outcome = BisectionOutcome::culprit;
  EXPECT_EQ(text_of(summary(bisection)), "No commit named");
}

TEST(WordsBisection, WithoutGuiltyCommit_SaysWhatDiffers) {
  auto const story = github::not_reproduced_story();
  EXPECT_THAT(
      text_of(summary(ended(BisectionOutcome::environment, story))),
      AllOf(StartsWith("No commit is to blame (environment): the two nightly builds differ"),
            EndsWith("what the nightlies were built or packaged with")));
  EXPECT_THAT(text_of(summary(ended(BisectionOutcome::layout, story))),
              AllOf(StartsWith("No commit is to blame (layout): "),
                    HasSubstr("built again with another layout")));
}

TEST(WordsBisection, OfNightliesAlone_SaysThatNoCommitWasBuilt) {
  auto bisection = ended(BisectionOutcome::range, github::not_reproduced_story());
  bisection.steps.front().stage = BisectionStage::nightlies;
  EXPECT_EQ(summary(bisection).reason,
            "commits are not built here, so only nightlies were measured");
  bisection.outcome = BisectionOutcome::not_reproduced;
  EXPECT_THAT(text_of(summary(bisection)),
              StartsWith("Not reproduced: the nightly builds did not differ when they were"));
}

TEST(WordsBisection, NotReproduced_SaysWhatTheNightlyBuildsDid) {
  auto bisection = ended(BisectionOutcome::not_reproduced, github::environment_story());
  auto const with = [&](Verdict verdict) {
    bisection.packages->changes.front().comparison.verdict = verdict;
    return text_of(summary(bisection));
  };
  EXPECT_THAT(with(Verdict::regression), HasSubstr("built differently from the bisection's"));
  EXPECT_THAT(with(Verdict::unchanged), HasSubstr("nightly builds no longer differ either"));
  EXPECT_THAT(with(Verdict::improvement), EndsWith("it is the good one that is worse"));
  EXPECT_THAT(with(Verdict::inconclusive), EndsWith("nightly builds again was inconclusive"));
  bisection.packages.reset();
  EXPECT_THAT(text_of(summary(bisection)), EndsWith("built with different dependencies"));
}

TEST(WordsBisection, UndecidedWithoutAnEnd_QuotesWhyItIsMissing) {
  auto bisection = ended(BisectionOutcome::undecided, github::not_reproduced_story());
  auto const ran_out = StartsWith("Undecided: the bisection ran out of measurements");
  bisection.request.series = {series_of("one", Metric::latency), series_of("two", Metric::cmem)};
  auto step = github::skipped_step(1, "b", 'b');
  step.benchmark = bisection.request.series[0].benchmark;
  bisection.steps = {step};
  EXPECT_THAT(text_of(summary(bisection)), ran_out) << "the other series may have both ends";
  step.benchmark = bisection.request.series[1].benchmark;
  bisection.steps.push_back(step);
  EXPECT_EQ(text_of(summary(bisection)),
            "Undecided: no series could be measured at both ends; the bad commit: recipe: exit "
            "status 125");
  step.skipped.reset();
  step.readings = {{Metric::cmem, {1}}};
  bisection.steps.push_back(step);
  EXPECT_THAT(text_of(summary(bisection)), ran_out) << "a repetition measured it";
}

TEST(WordsPackages, OfBisection_IntroduceDifferencesOrTheirAbsence) {
  auto bisection = bisection_of(github::environment_story());
  EXPECT_EQ(text_of(package_differences(bisection)),
            "Apart from their commits, the two nightly builds differ: - is only in the good one, + "
            "only in the bad one");
  bisection.packages->differences.clear();
  EXPECT_EQ(text_of(package_differences(bisection)),
            "Nothing visible in the two builds explains it: ask their maintainers");
  bisection.outcome = BisectionOutcome::not_reproduced;
  EXPECT_EQ(text_of(package_differences(bisection)), "") << "they are not to blame";
  bisection.packages.reset();
  EXPECT_EQ(text_of(package_differences(bisection)), "");
}

}  // namespace
}  // namespace torchwatch::words
