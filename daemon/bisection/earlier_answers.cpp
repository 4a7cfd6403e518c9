#include "daemon/bisection/earlier_answers.h"

#include <algorithm>
#include <cstddef>

#include "bisect/git/history.h"
#include "bisect/git/lineage.h"

namespace torchwatch::bisection {
namespace {

/// True when all suspects are commits that the end of `lineage` lacks or adds, as when they were
/// found.
bool lies_between(Finding const& finding, bisect::Lineage const& lineage) {
  auto const missing = static_cast<std::size_t>(finding.missing);
  for (std::size_t at = 0; at < finding.suspects.size(); ++at) {
    auto const& commits = at < missing ? lineage.missing : lineage.added;
    if (std::ranges::find(commits, finding.suspects[at].sha, &Commit::sha) == commits.end())
      return false;
  }
  return true;
}

bool answers(Bisection const& bisection, Series const& series, bisect::Lineage const& lineage) {
  bool const names_commits = bisection.outcome == BisectionOutcome::culprit ||
                             bisection.outcome == BisectionOutcome::range;
  return names_commits && std::ranges::any_of(bisection.findings, [&](Finding const& finding) {
           return std::ranges::find(finding.effects, series, &Effect::series) !=
                      finding.effects.end() &&
                  lies_between(finding, lineage);
         });
}

}  // namespace

std::vector<Series> series_without_answer(BisectionRequest const& request,
                                          std::vector<Bisection> const& earlier,
                                          config::SourceOptions const& source) {
  auto left = request.series;
  if (earlier.empty()) return left;
  auto const history = bisect::GitHistory::open(source.repository);
  if (!history) return left;
  auto const lineage = history->lineage(request.start, request.end);
  if (!lineage) return left;
  std::erase_if(left, [&](Series const& series) {
    return std::ranges::any_of(earlier, [&](Bisection const& one) {
      return one.request.start == request.start && answers(one, series, *lineage);
    });
  });
  return left;
}

}  // namespace torchwatch::bisection
