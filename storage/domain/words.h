#pragma once

#include <optional>
#include <string>
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

/// A level with its unit: "12.34 ms", "812.25 MiB", "1.50 KiB/iteration".
std::string level(Metric metric, double value);

/// A ratio as a change: 1.07 is "+7.0%".
std::string percent(double ratio);

/// "[+5.1%, +7.9%]"; empty where there is no ratio.
std::string interval(std::optional<RatioInterval> const& ratio);

/// A part of a whole: 0.6 is "60%".
std::string share(double part);

/// "71.0%"; never 0% or 100%: "more than 99.9%".
std::string probability(double value);

/// "+7.0%"; "from 0 to 1.50 KiB/iteration" without a ratio, "no figure" without levels.
std::string change(Metric metric, Comparison const& comparison);

/// All figures of a comparison: "+7.4% [+5.9%, +8.9%] (41.3 ms to 44.35 ms, 8 pairs of processes)".
std::string figures(Metric metric, Comparison const& comparison);

/// "test_eval[dlrm-cpu-eager] latency +12.1% and 2 more". `changes`: of an incident, the worst
/// first; those that are muted are not among them.
std::string headline(std::vector<SeriesChange> const& changes);

/// What a finding claims, and how sure that is. Only a proof makes a culprit. Of a lone commit also
/// whether the trunk has reverted it, and whether it caused an incident before.
Summary summary(Finding const& finding, Bisection const& bisection);

/// Everything known of one effect of a finding: the proof, the repeat with another layout, what the
/// bisection measured, its confidence, the revert check.
std::string evidence(Effect const& effect, Finding const& finding);

/// Why a commit is one of several suspects of a finding.
Summary suspicion(Commit const& commit, Finding const& finding, Bisection const& bisection);

/// Where the bad build lacks commits of the good one, which: "the bad build was built from an older
/// commit: A..B is missing in it (5 commits)", A..B as git writes a range. Else empty.
std::string ancestry(Bisection const& bisection);

/// Of a bisection into a merge, where the change came from: "the change came with merge M: culprit
/// C, one of the 5 commits that it brought"; that it was the merge itself; or only how many commits
/// are searched. Else empty.
std::string searched_merge(Bisection const& bisection);

/// "1 commit", "5 commits".
std::string commits(int count);

/// How a bisection stands or ended. The headline does not depend on its steps, the reason does; it
/// begins with the ancestry where there is any, or with the merge that is searched.
Summary summary(Bisection const& bisection);

/// Introduces `packages->differences`. Without a headline there is nothing to say of them.
Summary package_differences(Bisection const& bisection);

}  // namespace torchwatch::words
