#include "bisect/ladder.h"

#include <algorithm>
#include <numeric>

namespace torchwatch::bisect {

namespace {

/// Share of the weights that packages cannot move.
constexpr double immovable = 0.05;

}  // namespace

std::vector<std::size_t> rungs(std::span<CommitSha const> nightlies,
                               CommitSha const& start,
                               std::span<Commit const> suspects) {
  auto const is_nightly = [&](CommitSha const& commit) {
    return std::ranges::find(nightlies, commit) != nightlies.end();
  };
  std::vector<std::size_t> positions;
  if (is_nightly(start)) positions.push_back(0);
  for (std::size_t i = 0; i < suspects.size(); ++i)
    if (is_nightly(suspects[i].sha)) positions.push_back(i + 1);
  bool const has_ends =
      !positions.empty() && positions.front() == 0 && positions.back() == suspects.size();
  return has_ends && positions.size() > 2 ? positions : std::vector<std::size_t>{};
}

std::vector<Commit> ends_of_nights(std::span<Commit const> suspects,
                                   std::span<std::size_t const> rungs) {
  std::vector<Commit> ends;
  for (std::size_t i = 1; i < rungs.size(); ++i)
    ends.push_back(suspects[rungs[i] - 1]);
  return ends;
}

std::vector<Commit> commits_of_nights(std::span<Commit const> suspects,
                                      std::span<std::size_t const> rungs,
                                      std::span<Commit const> nights) {
  std::vector<Commit> commits;
  for (auto const& night : nights) {
    auto const end = std::ranges::find(suspects, night.sha, &Commit::sha) + 1;
    auto const position = static_cast<std::size_t>(end - suspects.begin());
    auto const rung = std::ranges::lower_bound(rungs, position) - rungs.begin();
    auto const begin = rungs[static_cast<std::size_t>(rung - 1)];
    commits.insert(commits.end(), suspects.begin() + static_cast<std::ptrdiff_t>(begin), end);
  }
  return commits;
}

std::vector<double> nights_of(std::span<double const> prior, std::span<std::size_t const> rungs) {
  std::vector<double> nights;
  for (std::size_t i = 0; i + 1 < rungs.size(); ++i) {
    auto const night = prior.subspan(rungs[i], rungs[i + 1] - rungs[i]);
    nights.push_back(std::accumulate(night.begin(), night.end(), 0.0));
  }
  return nights;
}

std::vector<double> weigh_by_rungs(std::vector<double> prior,
                                   std::span<std::size_t const> rungs,
                                   std::span<double const> changed) {
  double const all = std::accumulate(prior.begin(), prior.end(), 0.0);
  double const changes = std::accumulate(changed.begin(), changed.end(), 0.0);
  double const moved = (1 - immovable) * std::min(1.0, changes);
  auto const nights = nights_of(prior, rungs);
  for (std::size_t i = 0; i < nights.size(); ++i) {
    auto const begin = prior.begin() + static_cast<std::ptrdiff_t>(rungs[i]);
    auto const end = prior.begin() + static_cast<std::ptrdiff_t>(rungs[i + 1]);
    double const before = nights[i] / all;
    double const after = (1 - moved) * before + (moved > 0 ? moved * changed[i] / changes : 0);
    std::for_each(begin, end, [&](double& weight) { weight *= after / before; });
  }
  return prior;
}

}  // namespace torchwatch::bisect
