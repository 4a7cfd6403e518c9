#include "daemon/bisection/compare_series.h"

#include <algorithm>
#include <utility>

#include "daemon/async/when_all.h"

namespace torchwatch::bisection {
namespace asio = boost::asio;

using measure::ComparisonResult;

asio::awaitable<Result<std::vector<ComparisonResult>>> compare_series(
    measure::Rounds& rounds,
    measure::BuildPair const& builds,
    std::vector<SeriesThreshold> series,
    config::DecideOptions const& decide) {
  std::ranges::sort(series, {}, &SeriesThreshold::series);
  std::vector<Series> all;
  for (auto const& one : series)
    all.push_back(one.series);
  auto const groups = measure::by_benchmark(all);
  std::vector<config::DecideOptions> options(groups.size(), decide);
  measure::Past const unknown;  // proofs do not use data of nightlies
  std::vector<asio::awaitable<Result<ComparisonResult>>> tasks;
  auto first = series.begin();
  for (std::size_t i = 0; i < groups.size(); ++i) {
    auto const end = first + static_cast<std::ptrdiff_t>(groups[i].size());
    options[i].threshold =
        std::ranges::min(std::ranges::subrange(first, end), {}, &SeriesThreshold::threshold)
            .threshold;
    tasks.push_back(measure::compare_builds(rounds, builds, groups[i], unknown, options[i]));
    first = end;
  }
  auto compared = co_await async::when_all(std::move(tasks));
  std::vector<ComparisonResult> results;
  for (auto& one : compared) {
    if (!one) co_return one.error();
    results.push_back(std::move(*one));
  }
  co_return results;
}

}  // namespace torchwatch::bisection
