#include "daemon/nightly/rebuilds.h"

#include <algorithm>
#include <string>
#include <utility>

#include <spdlog/spdlog.h>

#include "daemon/async/when_all.h"
#include "daemon/builds/recipe.h"
#include "daemon/nightly/screening.h"
#include "daemon/nightly/sweep.h"

namespace torchwatch::nightly {
namespace asio = boost::asio;

namespace {

constexpr int layouts = 2;

void log_skipped(Nightly const& nightly, std::string const& reason) {
  spdlog::warn("rebuilds_skipped date={} reason=\"{}\"", nightly.date, reason);
}

}  // namespace

asio::awaitable<Result<>> Rebuilds::compare(Nightly const& nightly) {
  if (options_.decide.aa_rebuilds == 0) co_return Result<>{};
  auto builds = co_await builds_of(nightly);
  if (!builds) co_return builds.error();
  if (builds->size() < layouts) co_return Result<>{};
  co_return co_await compare_on(nightly, std::move(*builds));
}

/// Returns one build in each layout; fewer when one is impossible.
asio::awaitable<Result<std::vector<Build>>> Rebuilds::builds_of(Nightly const& nightly) {
  std::vector<Build> builds;
  std::vector<CommitSha> commits{nightly.commit};
  auto const fetched = co_await git_fetch_.ensure(std::move(commits));
  if (!fetched) {
    log_skipped(nightly, fetched.error().message);
    co_return builds;
  }
  for (int layout = 0; layout < layouts; ++layout) {
    auto const recipe = co_await builder_.recipe(layout);
    if (!recipe) co_return recipe.error();
    if (builds::layout_in(recipe->contents) != layout) {
      log_skipped(nightly, "the recipe knows no layouts");
      break;
    }
    auto attempt = co_await builder_.build(nightly.commit, recipe->id, builds::From::source);
    if (!attempt) co_return attempt.error();
    if (!attempt->build) {
      log_skipped(nightly, attempt->note);
      break;
    }
    builds.push_back(std::move(*attempt->build));
  }
  co_return builds;
}

asio::awaitable<Result<>> Rebuilds::compare_on(Nightly const& nightly, std::vector<Build> builds) {
  measure::BuildPair const pair{
      Campaign::rebuilds(nightly.id), std::move(builds.front()), std::move(builds.back())};
  auto const groups =
      sample_of(swept(store_, nightly, options_.fleets), nightly.id, options_.decide.aa_rebuilds);
  measure::Past const nothing;
  std::vector<asio::awaitable<Result<measure::ComparisonResult>>> comparisons;
  for (auto const& group : groups)
    comparisons.push_back(measure::compare_builds(rounds_, pair, group, nothing, options_.decide));
  auto const results = co_await async::when_all(std::move(comparisons));
  for (auto const& result : results)
    if (!result) co_return result.error();
  co_return Result<>{};
}

}  // namespace torchwatch::nightly
