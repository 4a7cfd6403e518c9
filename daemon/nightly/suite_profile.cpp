#include "daemon/nightly/suite_profile.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include <spdlog/spdlog.h>

#include "daemon/async/when_all.h"
#include "daemon/builds/manifest.h"
#include "daemon/measure/job.h"
#include "daemon/nightly/sweep.h"
#include "storage/domain/campaign.h"

namespace torchwatch::nightly {
namespace asio = boost::asio;

asio::awaitable<Result<>> SuiteProfile::run(Nightly const& nightly) {
  auto const fleets = gpu_fleets();
  if (fleets.empty() || !is_due(nightly)) co_return Result<>{};
  auto const build = builds::read_build_of(nightly);
  if (!build) {
    spdlog::warn(
        "suite_profile_skipped date={} reason=\"{}\"", nightly.date, build.error().message);
    co_return Result<>{};
  }
  std::vector<asio::awaitable<Result<std::vector<JobOutcome>>>> profiles;
  for (auto const& group : swept(store_, nightly, fleets)) {
    auto const& series = group.front();
    if (!measure::suite_of(options_, series.benchmark).command.empty()) continue;  // no operators
    measure::RoundKey key{
        Campaign::suite_profile(nightly.id), series.fleet, series.benchmark, 0, true};
    std::vector<Build> builds{*build};
    profiles.push_back(rounds_.measure(std::move(key), std::move(builds)));
  }
  auto const profiled = co_await async::when_all(std::move(profiles));
  for (auto const& one : profiled)
    if (!one) co_return one.error();
  spdlog::info("suite_profiled date={} benchmarks={}", nightly.date, profiled.size());
  co_return Result<>{};
}

std::vector<config::FleetOptions> SuiteProfile::gpu_fleets() const {
  std::vector<config::FleetOptions> fleets;
  std::ranges::copy_if(options_.fleets, std::back_inserter(fleets), [](auto const& fleet) {
    return fleet.device == Device::cuda;
  });
  return fleets;
}

/// True when the profile is due, or has begun.
bool SuiteProfile::is_due(Nightly const& nightly) const {
  auto const nights = options_.measure.profile_nights;
  if (nights == 0) return false;
  auto const profiled = store_.jobs().profiled_nightlies();
  if (profiled.empty() || profiled.front() == nightly.id) return true;
  auto const since = store_.nightlies().all();
  auto const last = std::ranges::find(since, profiled.front(), &Nightly::id);
  auto const now = std::ranges::find(since, nightly.id, &Nightly::id);
  return now - last >= nights;
}

}  // namespace torchwatch::nightly
