#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "storage/domain/bisection.h"

/// The texts on comparisons, findings and bisections. The issue, the HTTP API, the CLI and the
/// dashboard all print these. Plain text: a caller escapes it for its own format. Pure.
namespace torchwatch::words {

/// Probability from which the answer of a bisection is stated as a fact.
inline constexpr double certain = 0.95;

/// A short text and why it is so.
struct Summary {
  std::string headline{};  ///< a few words
  std::string reason{};    ///< follows the headline, without the last full stop; may be empty
  std::string quote{};     ///< text from elsewhere that ends the reason; may be empty
};

/// The reason and what it quotes: "could not be built or measured: exit status 125".
std::string full_reason(Summary const& summary);

/// The declared metrics as a list of allowed words: `"latency", "cmem", "gmem", "leak"`, then those
/// of the suites.
std::string metric_names();

/// The better direction of a metric: "lower" or "higher".
std::string_view better(Metric metric);

/// The name of a metric in a table: "latency", "tokens_per_s (higher is better)".
std::string label(Metric metric);

/// A level with its unit: "12.34 ms", "812.25 MiB", "1.50 KiB/iteration", "1234 1/s". The unit "1"
/// of counts is left out: "14".
std::string level(Metric metric, double value);
std::string level(std::string_view unit, double value);

/// A ratio as a change: 1.07 is "+7.0%".
std::string percent(double ratio);

/// "[+5.1%, +7.9%]"; empty where there is no ratio.
std::string interval(std::optional<RatioInterval> const& ratio);

/// A part of a whole: 0.6 is "60%".
std::string share(double part);

/// "71.0%"; never 0% or 100%: "more than 99.9%".
std::string probability(double value);

/// The confidence of an interval that misses the truth with probability `error_bound`: "99%".
/// 99.9% is the highest, from an error bound of 0.001 down.
std::string confidence(double error_bound);

/// "+7.0%"; "from 0 to 1.50 KiB/iteration" without a ratio, "no figure" without levels.
std::string change(Metric metric, Comparison const& comparison);

/// The part of a change that is certain, from the interval and its error bound: "at least +10.1%,
/// confidence 99.9%". "an increase, confidence 99.9%" where the interval begins at no change, and
/// "between -1.0% and +3.0%, confidence 99%" for `unchanged` and `inconclusive`. "exact, ..." when
/// all processes agree. Empty when nothing is known.
std::string certainty(Comparison const& comparison);

/// All figures of a comparison: "+7.4% (at least +5.9%, confidence 99.9%; 41.3 ms to 44.35 ms, 8
/// pairs of processes)".
std::string figures(Metric metric, Comparison const& comparison);

/// The change between two levels as the rest of a sentence about a benchmark: "is 12% slower",
/// "uses 29% more peak CPU memory", "leaks 1.50 KiB per iteration", "takes 7.3% less time".
std::string claim(Metric metric, double before, double after);

/// "test_eval[dlrm-cpu-eager] is 12% slower (and 2 more series)". `changes`: those of an incident
/// that are not muted, the worst first. `since`, such as "nightly 2026-11-20", follows the claim
/// where it is not empty.
std::string headline(std::vector<SeriesChange> const& changes, std::string_view since = {});

/// The claim of a finding, and how sure it is. Only a proof makes a culprit. For a lone commit, the
/// reason also names the commit that reverted it, and the earlier incident that it caused.
Summary summary(Finding const& finding, Bisection const& bisection);

/// Everything that is known about one effect of a finding: the proof, the repeat with another
/// layout, the levels that the bisection measured, its confidence, the revert check.
std::string evidence(Effect const& effect, Finding const& finding);

/// The reason why a commit is one of several suspects of a finding.
Summary suspicion(Commit const& commit, Finding const& finding, Bisection const& bisection);

/// The commits of the good build that the bad one lacks: "the bad build was built from an older
/// commit: A..B is missing in it (5 commits)", A..B as git writes a range. Empty if it has all.
std::string ancestry(Bisection const& bisection);

/// The origin of a change that came with a merge: "the change came with merge M: culprit C, one of
/// the 5 commits that it brought"; or the merge itself; or only how many commits are searched.
/// Empty for a bisection that searches no merge.
std::string searched_merge(Bisection const& bisection);

/// "1 commit", "5 commits".
std::string commits(int count);

/// The state or the outcome of a bisection. The headline does not depend on its steps, the reason
/// does. The reason begins with the ancestry, or with the merge that is searched, if there is one.
Summary summary(Bisection const& bisection);

/// Introduces `packages->differences`. Has no headline where there is nothing to introduce.
Summary package_differences(Bisection const& bisection);

}  // namespace torchwatch::words
