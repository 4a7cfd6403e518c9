#include "daemon/nightly/lost_builds.h"

#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include <spdlog/spdlog.h>

#include "bisect/compare/baseline.h"
#include "daemon/nightly/stages.h"

namespace torchwatch::nightly {
namespace asio = boost::asio;

namespace {

/// A nightly later than all others.
Nightly next_nightly() {
  Nightly next;
  next.date = "9999-12-31";
  return next;
}

}  // namespace

asio::awaitable<Result<>> LostBuilds::bring() {
  for (auto const id : needed_to_judge()) {
    auto const brought = co_await bring(id);
    if (!brought) co_return brought.error();
  }
  for (auto const id : needed_otherwise()) {
    auto const brought = co_await bring(id);
    if (!brought) continue;  // it was logged, and the next pass tries again
  }
  co_return Result<>{};
}

std::set<NightlyId> LostBuilds::needed_to_judge() {
  std::set<NightlyId> needed;
  auto const nightlies = store_.nightlies().all();
  for (auto const& nightly : nightlies) {
    if (has_ended(nightly.state) || nightly.state == NightlyState::announced) continue;
    needed.insert(nightly.id);
    if (nightly.baseline) needed.insert(*nightly.baseline);
    for (auto const& [series, baseline] : store_.baselines().of(nightly.id))
      needed.insert(baseline);
  }
  if (auto const baseline = bisect::baseline_of(next_nightly(), nightlies))
    needed.insert(baseline->id);
  return needed;
}

/// The builds of stale incidents are not kept either.
std::set<NightlyId> LostBuilds::needed_otherwise() {
  std::set<NightlyId> needed;
  for (auto const& incident : store_.incidents().unfinished()) {
    if (incident.state == IncidentState::stale) continue;
    for (auto const& change : incident.changes)
      needed.insert(baseline_of(incident, change.series));
  }
  for (auto const& bisection : store_.bisections().not_ended())
    for (auto const& end : {bisection.request.start, bisection.request.end})
      for (auto const& nightly : store_.nightlies().of(end))
        needed.insert(nightly.id);
  return needed;
}

bool LostBuilds::is_lost(Nightly const& nightly) const {
  std::error_code problem;
  bool const is_ours = !nightly.prefix.empty() && !builds_.name_of(nightly.prefix).empty();
  return is_ours && !std::filesystem::exists(nightly.prefix, problem) && !problem;
}

asio::awaitable<Result<>> LostBuilds::bring(NightlyId id) {
  auto nightly = store_.nightlies().find(id).value();
  if (given_up_.contains(id) || !is_lost(nightly)) co_return Result<>{};
  auto const date = nightly.date;
  auto const brought = co_await preparation_.bring_back(std::move(nightly));
  if (!brought) {
    spdlog::warn("lost_build_delayed date={} reason=\"{}\"", date, brought.error().message);
    co_return brought.error();
  }
  if (!brought->build) {
    spdlog::warn("lost_build_given_up date={} reason=\"{}\"", date, brought->note);
    given_up_.insert(id);
    co_return Result<>{};
  }
  spdlog::info("lost_build_restored date={}", date);
  co_return Result<>{};
}

}  // namespace torchwatch::nightly
