#include "daemon/bisection/nightly_range.h"

#include <algorithm>
#include <iterator>

namespace torchwatch::bisection {
namespace {

Commit commit_of(Nightly const& nightly) {
  Commit commit;
  commit.sha = nightly.commit;
  commit.subject = "nightly " + nightly.date + ", " + nightly.version;
  commit.time = nightly.announced_at;
  return commit;
}

Error unknown(CommitSha const& commit) {
  return {ErrorCode::not_found,
          "commit " + commit.hex +
              ": no nightly with a build has it, and source.repository is not configured"};
}

}  // namespace

Result<std::vector<Commit>> nightlies_between(std::vector<Nightly> const& nightlies,
                                              CommitSha const& start,
                                              CommitSha const& end) {
  std::vector<Nightly> built;
  for (auto const& nightly : nightlies)
    if (!nightly.prefix.empty() && (built.empty() || built.back().commit != nightly.commit))
      built.push_back(nightly);
  auto const first = std::ranges::find(built, start, &Nightly::commit);
  if (first == built.end()) return unknown(start);
  auto const last = std::ranges::find(built, end, &Nightly::commit);
  if (last == built.end()) return unknown(end);
  if (last < first)
    return Error{ErrorCode::invalid_argument,
                 "nightly " + last->date + " is not after nightly " + first->date};
  std::vector<Commit> commits;
  std::transform(std::next(first), std::next(last), std::back_inserter(commits), commit_of);
  return commits;
}

}  // namespace torchwatch::bisection
