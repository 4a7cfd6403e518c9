#include "daemon/bisection/package_check.h"

#include <algorithm>
#include <utility>

#include "daemon/bisection/compare_series.h"
#include "daemon/builds/contents.h"
#include "daemon/builds/manifest.h"

namespace torchwatch::bisection {
namespace asio = boost::asio;

namespace {

bool is_asked_for(Verdict verdict, Direction direction) {
  if (verdict == Verdict::regression) return direction != Direction::decrease;
  return verdict == Verdict::improvement && direction != Direction::increase;
}

/// True when the recipe of such builds is known.
bool is_ours(Recipe const& recipe) {
  return recipe.id.value > 0 && recipe.kind == RecipeKind::program;
}

/// True when a bisection's own builds are the delivered ones.
bool are_delivered(std::vector<builds::BuildAttempt> const& ends,
                   Build const& before,
                   Build const& after) {
  return ends.back().build && ends.front().build->prefix == before.prefix &&
         ends.back().build->prefix == after.prefix;
}

}  // namespace

asio::awaitable<Result<>> PackageCheck::look(Bisection& bisection,
                                             std::vector<builds::BuildAttempt> const& ends) {
  auto const& request = bisection.request;
  auto const before = delivered(bisection, request.start);
  auto const after = delivered(bisection, request.end);
  if (!before || !after || are_delivered(ends, *before, *after)) co_return Result<>{};
  auto const old_recipe = recipe_of(*before);
  auto const new_recipe = recipe_of(*after);
  Packages packages{builds::differences(builds::packaging_of(*before, old_recipe),
                                        builds::packaging_of(*after, new_recipe)),
                    {}};
  if (bisection.outcome == BisectionOutcome::not_reproduced) {
    auto changes = co_await compare(bisection, *before, *after);
    if (!changes) co_return changes.error();
    packages.changes = std::move(*changes);
    bool const differ = std::ranges::any_of(packages.changes, [&](SeriesChange const& change) {
      return is_asked_for(change.comparison.verdict, request.direction);
    });
    bool const are_alike = old_recipe.id == new_recipe.id && is_ours(old_recipe);
    if (differ && !are_alike) bisection.outcome = BisectionOutcome::environment;
  }
  bool const has_news = !packages.differences.empty() || !packages.changes.empty();
  if (has_news) bisection.packages = std::move(packages);
  co_return Result<>{};
}

/// Returns the existing build of the nightly at an end: the incident's nightly, or the newest of
/// the commit.
std::optional<Build> PackageCheck::delivered(Bisection const& bisection,
                                             CommitSha const& commit) const {
  std::optional<Build> newest;
  auto const incident =
      bisection.incident ? store_.incidents().find(*bisection.incident) : std::nullopt;
  for (auto const& nightly : store_.nightlies().all()) {
    if (nightly.commit != commit || nightly.prefix.empty()) continue;
    if (incident && !is_end_of(*incident, nightly.id)) continue;
    if (auto build = builds::read_build_of(nightly)) newest = std::move(*build);
  }
  return newest;
}

/// Returns the recipe of a build; none when it is unknown.
Recipe PackageCheck::recipe_of(Build const& build) const {
  auto const known = store_.builds().find_at(build.prefix);
  auto const recipe = known ? store_.recipes().find(known->recipe) : std::nullopt;
  return recipe.value_or(Recipe{});
}

asio::awaitable<Result<std::vector<SeriesChange>>> PackageCheck::compare(Bisection const& bisection,
                                                                         Build before,
                                                                         Build after) {
  BisectionCampaigns const campaigns{bisection.id, bisection.recipe};
  measure::BuildPair const builds{campaigns.packages(), std::move(before), std::move(after)};
  std::vector<SeriesThreshold> series;
  for (auto const& one : bisection.request.series)
    series.push_back({one, bisection.request.threshold});
  auto const results = co_await compare_series(rounds_, builds, std::move(series), options_);
  if (!results) co_return results.error();
  std::vector<SeriesChange> changes;
  for (auto const& result : *results)
    changes.insert(changes.end(), result.changes.begin(), result.changes.end());
  co_return changes;
}

}  // namespace torchwatch::bisection
