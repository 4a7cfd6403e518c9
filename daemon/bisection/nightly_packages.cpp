#include "daemon/bisection/nightly_packages.h"

#include <algorithm>
#include <functional>
#include <set>
#include <utility>

#include "daemon/builds/manifest.h"

namespace torchwatch::bisection {
namespace asio = boost::asio;

using builds::BuildAttempt;
using builds::Known;

namespace {

std::set<CommitSha> measured_nightlies(Bisection const& bisection) {
  std::set<CommitSha> commits;
  for (auto const& step : bisection.steps)
    if (step.stage == BisectionStage::nightlies)
      commits.insert(step.commits.begin(), step.commits.end());
  return commits;
}

/// Returns the test whether the incident is about a nightly.
auto is_of_incident(storage::Store& store, Bisection const& bisection) {
  auto incident = bisection.incident ? store.incidents().find(*bisection.incident) : std::nullopt;
  return [incident = std::move(incident)](Nightly const& nightly) {
    return incident && is_end_of(*incident, nightly.id);
  };
}

}  // namespace

NightlyPackages::NightlyPackages(storage::Store& store, Bisection const& bisection)
    : campaigns_{bisection.id, bisection.recipe} {
  auto const measured = measured_nightlies(bisection);
  auto nightlies = store.nightlies().all();
  std::ranges::stable_partition(nightlies, std::not_fn(is_of_incident(store, bisection)));
  for (auto const& nightly : nightlies) {
    auto const known = store.builds().find(nightly.commit, bisection.recipe);
    bool const is_the_recipes = known && known->prefix == nightly.prefix;
    bool const was_measured = measured.contains(nightly.commit);
    if (is_the_recipes && !was_measured) continue;
    if (builds::read_build_of(nightly))
      prefixes_[nightly.commit] = nightly.prefix;
    else if (was_measured)
      prefixes_.try_emplace(nightly.commit, nightly.prefix);
  }
}

std::vector<CommitSha> NightlyPackages::commits() const {
  std::vector<CommitSha> commits;
  for (auto const& [commit, prefix] : prefixes_)
    commits.push_back(commit);
  return commits;
}

Result<Build> NightlyPackages::package_of(CommitSha const& commit) const {
  Nightly nightly;
  nightly.commit = commit;
  nightly.prefix = prefixes_.at(commit);
  return builds::read_build_of(nightly);
}

asio::awaitable<Result<std::vector<BuildAttempt>>> NightlyPackages::builds_of(
    std::vector<CommitSha> commits) {
  std::vector<BuildAttempt> attempts;
  for (auto const& commit : commits) {
    auto package = package_of(commit);
    if (!package) {
      attempts.push_back({std::nullopt, package.error().message});
      break;
    }
    attempts.push_back({std::move(*package), ""});
  }
  co_return attempts;
}

Known NightlyPackages::known(CommitSha const& commit) const {
  return package_of(commit) ? Known::built : Known::unbuildable;
}

}  // namespace torchwatch::bisection
