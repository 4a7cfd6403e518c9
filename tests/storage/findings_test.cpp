#include <gtest/gtest.h>

#include "storage/domain/bisection.h"
#include "tests/storage/samples.h"

namespace torchwatch::tests {
namespace {

Comparison verdict_of(Verdict verdict) {
  Comparison comparison;
  comparison.verdict = verdict;
  return comparison;
}

Effect seen(double before, double after) {
  Effect effect;
  effect.series = latency_of("dlrm");
  effect.before = before;
  effect.after = after;
  return effect;
}

/// Returns an increase with a proof that has this verdict.
Effect proved(Verdict verdict) {
  auto effect = seen(10, 12);
  effect.proof = verdict_of(verdict);
  return effect;
}

FindingKind kind_with(std::vector<Effect> effects, std::size_t suspects = 1) {
  return kind_of({std::vector<Commit>(suspects), std::move(effects)});
}

TEST(Findings, OneCommitWithAProvedRegressionIsACulprit) {
  EXPECT_EQ(kind_with({proved(Verdict::regression)}), FindingKind::culprit);
  EXPECT_EQ(kind_with({proved(Verdict::regression), proved(Verdict::improvement)}),
            FindingKind::culprit);
  EXPECT_EQ(kind_with({proved(Verdict::regression), seen(10, 8)}), FindingKind::culprit);
}

TEST(Findings, OneCommitWithOnlyProvedImprovementsIsAnImprovement) {
  EXPECT_EQ(kind_with({proved(Verdict::improvement)}), FindingKind::improvement);
  EXPECT_EQ(kind_with({proved(Verdict::improvement), proved(Verdict::unchanged)}),
            FindingKind::improvement)
      << "what the commit is proved not to do is none of its effects";
}

TEST(Findings, OneCommitWithoutAProofIsNotACulprit) {
  EXPECT_EQ(kind_with({seen(10, 12)}), FindingKind::range);
  EXPECT_EQ(kind_with({proved(Verdict::inconclusive)}), FindingKind::range);
  EXPECT_EQ(kind_with({seen(10, 8)}), FindingKind::improvement);
}

/// Returns an increase with proofs in two layouts.
Effect rebuilt(Verdict first, Verdict second) {
  auto effect = proved(first);
  effect.rebuilt = verdict_of(second);
  return effect;
}

TEST(Findings, ACommitIsACulpritOnlyIfProvedInAllLayouts) {
  using enum Verdict;
  EXPECT_EQ(kind_with({rebuilt(regression, regression)}), FindingKind::culprit);
  EXPECT_EQ(kind_with({rebuilt(regression, unchanged)}), FindingKind::layout);
  EXPECT_EQ(kind_with({rebuilt(regression, improvement)}), FindingKind::layout);
  EXPECT_EQ(kind_with({rebuilt(regression, inconclusive)}), FindingKind::range);
  EXPECT_EQ(kind_with({rebuilt(unchanged, unchanged)}), FindingKind::range);
  EXPECT_EQ(kind_with({rebuilt(regression, unchanged), proved(regression)}), FindingKind::culprit)
      << "what one series shows is enough";
}

TEST(Findings, ADoubtedCommitIsNotACulprit) {
  auto effect = rebuilt(Verdict::regression, Verdict::regression);
  effect.is_doubted = true;
  EXPECT_EQ(kind_with({effect}), FindingKind::range);
}

TEST(Findings, AGradualChangeHasTheAverageRatioOfACommit) {
  Finding finding{std::vector<Commit>(10), {seen(10, 11)}};
  EXPECT_EQ(kind_of(finding), FindingKind::range);
  finding.is_gradual = true;
  EXPECT_EQ(kind_of(finding), FindingKind::gradual);
  EXPECT_NEAR(ratio_per_suspect(finding, finding.effects[0]), 1.00958, 1e-4);
}

TEST(Findings, SeveralCommitsAreARangeUnlessAllEffectsAreDecreases) {
  EXPECT_EQ(kind_with({seen(10, 12)}, 2), FindingKind::range);
  EXPECT_EQ(kind_with({seen(10, 8), seen(10, 12)}, 2), FindingKind::range);
  EXPECT_EQ(kind_with({seen(10, 8), seen(5, 4)}, 2), FindingKind::improvement);
}

TEST(Findings, ARiseIsAnImprovementWhereHigherIsBetter) {
  MetricKind const kind{.unit = "1/s", .is_higher_better = true};
  auto const tokens = declare_metric("findings_tokens", kind).value();
  auto const of_tokens = [&](double before, double after) {
    auto effect = seen(before, after);
    effect.series.metric = tokens;
    return effect;
  };
  EXPECT_EQ(kind_with({of_tokens(10, 12), seen(5, 4)}, 2), FindingKind::improvement);
  EXPECT_EQ(kind_with({of_tokens(10, 8)}, 2), FindingKind::range);
}

TEST(Findings, ARevertInTheOtherDirectionUndoesTheEffect) {
  auto effect = proved(Verdict::regression);
  EXPECT_FALSE(is_undone_by_revert(effect)) << "no revert check";
  effect.revert_check = verdict_of(Verdict::improvement);
  EXPECT_TRUE(is_undone_by_revert(effect));
  effect.revert_check = verdict_of(Verdict::regression);
  EXPECT_FALSE(is_undone_by_revert(effect));
  effect.proof = verdict_of(Verdict::improvement);
  EXPECT_TRUE(is_undone_by_revert(effect));
  effect.proof.reset();
  EXPECT_FALSE(is_undone_by_revert(effect));
}

}  // namespace
}  // namespace torchwatch::tests
