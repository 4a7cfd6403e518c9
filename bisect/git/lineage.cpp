#include "bisect/git/lineage.h"

#include <algorithm>
#include <iterator>

namespace torchwatch::bisect {

Way way_along(Lineage const& lineage) {
  auto const& [base, missing, added] = lineage;
  Way way;
  way.missing = missing.size();
  way.suspects.assign(missing.rbegin(), missing.rend());
  if (!missing.empty()) {
    way.builds.assign(std::next(missing.rbegin()), missing.rend());
    way.builds.push_back(base);
  }
  for (auto* const commits : {&way.suspects, &way.builds})
    commits->insert(commits->end(), added.begin(), added.end());
  return way;
}

void name_suspects(Way const& way, Finding& finding) {
  for (auto& commit : finding.suspects) {
    auto const build = std::ranges::find(way.builds, commit.sha, &Commit::sha);
    auto const step = static_cast<std::size_t>(build - way.builds.begin());
    commit = way.suspects.at(step);
    if (step < way.missing) ++finding.missing;
  }
}

std::optional<Ancestry> ancestry_of(Lineage const& lineage) {
  if (lineage.missing.empty()) return std::nullopt;
  return Ancestry{lineage.base.sha,
                  static_cast<int>(lineage.missing.size()),
                  static_cast<int>(lineage.added.size())};
}

}  // namespace torchwatch::bisect
