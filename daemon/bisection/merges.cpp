#include "daemon/bisection/merges.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <spdlog/spdlog.h>

#include "bisect/git/history.h"

namespace torchwatch::bisection {
namespace {

void log_unknown(CommitSha const& commit, Error const& error) {
  spdlog::warn("merge_unknown commit={} reason=\"{}\"", short_of(commit), error.message);
}

/// True for a proved merge that moved a series in the requested direction.
bool is_merge_to_search(Finding const& finding, Direction direction) {
  if (finding.merged == 0 || !is_culprit(finding)) return false;
  bool const is_better = kind_of(finding) == FindingKind::improvement;
  return direction == Direction::both || is_better == (direction == Direction::decrease);
}

std::optional<bisect::MergedLine> line_of(config::SourceOptions const& source,
                                          CommitSha const& merge,
                                          CommitSha const& ancestor) {
  auto const history = bisect::GitHistory::open(source.repository);
  auto line = history ? history->merged_line(merge, ancestor)
                      : Result<std::optional<bisect::MergedLine>>{history.error()};
  if (line) return *line;
  log_unknown(merge, line.error());
  return std::nullopt;
}

/// Returns a bisection without series.
Bisection bisection_into(Bisection const& outer,
                         Finding const& finding,
                         bisect::MergedLine const& line) {
  Bisection inner;
  inner.incident = outer.incident;
  inner.request = outer.request;
  inner.request.start = finding.missing > 0 ? line.tip : line.base;
  inner.request.end = finding.missing > 0 ? line.base : line.tip;
  inner.request.series.clear();
  inner.asked_at = outer.asked_at;
  inner.inside = SearchedMerge{outer.id, finding.suspects.front().sha, finding.merged};
  return inner;
}

void add_series(Finding const& finding, BisectionRequest& request) {
  for (auto const& effect : finding.effects)
    if (is_proved(effect) && std::ranges::count(request.series, effect.series) == 0)
      request.series.push_back(effect.series);
}

}  // namespace

void note_merge(config::SourceOptions const& source, CommitSha const& parent, Finding& finding) {
  auto const& suspect = finding.suspects.front().sha;
  auto const history = bisect::GitHistory::open(source.repository);
  auto const merged = history ? history->merged_by(suspect, parent) : Result<int>{history.error()};
  if (merged)
    finding.merged = *merged;
  else
    log_unknown(suspect, merged.error());
}

std::vector<Bisection> bisections_into_merges(config::SourceOptions const& source,
                                              Bisection const& bisection) {
  auto const& start = bisection.request.start;
  auto const& ancestor = bisection.ancestry ? bisection.ancestry->base : start;
  std::vector<Bisection> into;
  if (bisection.state != BisectionState::done) return into;
  for (auto const& finding : bisection.findings) {
    if (!is_merge_to_search(finding, bisection.request.direction)) continue;
    auto const& merge = finding.suspects.front().sha;
    // Several findings may name one merge, each for other series.
    auto known = std::ranges::find_if(
        into, [&merge](Bisection const& one) { return one.inside->merge == merge; });
    if (known == into.end()) {
      auto const line = line_of(source, merge, ancestor);
      if (!line) continue;
      known = into.insert(known, bisection_into(bisection, finding, *line));
    }
    add_series(finding, known->request);
  }
  return into;
}

}  // namespace torchwatch::bisection
