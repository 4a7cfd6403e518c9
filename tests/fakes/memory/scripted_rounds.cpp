#include "tests/fakes/memory/scripted_rounds.h"

#include <algorithm>
#include <cmath>

#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace torchwatch::fakes {
namespace asio = boost::asio;

namespace {

constexpr double typical_ms = 10;
constexpr double typical_bytes = 64.0 * (1 << 20);
constexpr double typical_leak = 1024;
constexpr int runs = 5;

std::vector<JobKey> keys_of(measure::RoundKey const& key, std::vector<Build> const& builds) {
  std::vector<JobKey> keys;
  for (auto const& build : builds) {
    auto const& commit = build.manifest.commit;
    bool const is_second = std::ranges::find(keys, commit, &JobKey::commit) != keys.end();
    auto const campaign = is_second ? key.campaign.second() : key.campaign;
    keys.push_back({campaign, key.fleet, key.benchmark, commit, key.round});
  }
  return keys;
}

asio::awaitable<void> hang() {
  asio::steady_timer never{co_await asio::this_coro::executor,
                           asio::steady_timer::time_point::max()};
  co_await never.async_wait(asio::use_awaitable);
}

}  // namespace

asio::awaitable<Result<std::vector<JobOutcome>>> ScriptedRounds::measure(
    measure::RoundKey key, std::vector<Build> builds) {
  auto const keys = keys_of(key, builds);
  std::vector<JobOutcome> known;
  for (auto const& one : keys)
    if (auto outcome = store_.jobs().find(one)) known.push_back(std::move(*outcome));
  if (known.size() == keys.size()) co_return known;
  before(key);
  if (auto const trouble = trouble_of(key)) co_return *trouble;
  if (!hangs_in.empty() && key.campaign.name.starts_with(hangs_in)) co_await hang();
  auto const slot = slot_for(key);
  double const pace =
      slots.at(slot).noise * noise * 3 * std::normal_distribution<double>{}(generator_);
  std::vector<JobOutcome> outcomes;
  ++seed_;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    outcomes.push_back(outcome_of(keys[i], builds[i], slot, pace, key.profile));
    outcomes.back().seed = seed_;
    outcomes.back().place = static_cast<int>(i);
    outcomes.back().slot = static_cast<int>(slot);
    finish(outcomes.back(), builds[i]);
  }
  store_.jobs().record(outcomes);
  ++measured[key.campaign.name];
  co_return outcomes;
}

std::size_t ScriptedRounds::slot_for(measure::RoundKey const& key) {
  if (key.slot) return *key.slot;
  auto const quarantined = store_.slots().quarantined(key.fleet);
  std::vector<std::size_t> usable;
  for (std::size_t slot = 0; slot < slots.size(); ++slot)
    if (!quarantined.contains(slot)) usable.push_back(slot);
  return usable.at(turns_++ % usable.size());
}

std::optional<Error> ScriptedRounds::trouble_of(measure::RoundKey const& key) {
  std::string why;
  bool const has_failed = host_failure && host_failure->rounds_left-- <= 0;
  if (has_failed) why = ": " + host_failure->why;
  bool const has_no_slot = key.slot && out_of_service_slots.contains(*key.slot);
  if (!has_failed && !has_no_slot && !out_of_service.contains(key.fleet)) return std::nullopt;
  return Error{ErrorCode::unavailable, "fleet " + key.fleet + " is out of service" + why};
}

JobOutcome ScriptedRounds::outcome_of(
    JobKey key, Build const& build, std::size_t slot, double pace, bool with_profile) {
  JobOutcome outcome;
  outcome.key = std::move(key);
  outcome.fingerprint = R"({"host":"memory"})";
  outcome.version = "2.9.0";
  outcome.seconds = 2;
  outcome.finished_at = clock_.now();
  auto const failure = failures.find({outcome.key.benchmark.model, build.manifest.commit});
  if (failure != failures.end()) {
    outcome.error_code = failure->second;
    outcome.error = "the script says so";
    return outcome;
  }
  double const luck = slots.at(slot).noise * noise * std::normal_distribution<double>{}(generator_);
  bool const reports_memory = !without_memory.contains(build.manifest.commit);
  for (auto const metric : metrics(outcome.key.benchmark.device))
    if (metric == Metric::latency || reports_memory)
      outcome.values[metric] =
          value_of({outcome.key.fleet, outcome.key.benchmark, metric}, build, slot, pace + luck);
  if (with_profile)
    outcome.profile = {{"aten::mm", 1, outcome.values[Metric::latency].value, typical_bytes}};
  return outcome;
}

MetricValue ScriptedRounds::value_of(Series const& series,
                                     Build const& build,
                                     std::size_t slot,
                                     double pace) {
  double const times = level(series, build);
  if (series.metric == Metric::latency) {
    double const ms = typical_ms * times * slots.at(slot).level * std::exp(pace);
    MetricValue value{ms, std::vector<double>(runs, ms)};
    if (noise_of_runs == 0) return value;
    std::normal_distribution<double> normal{0, noise_of_runs * slots[slot].noise};
    for (auto& run : value.samples)
      run *= std::exp(normal(generator_));
    return value;
  }
  bool const is_leak = series.metric == Metric::leak;
  double const bytes = std::round(is_leak ? typical_leak * (times - 1) : typical_bytes * times);
  return {bytes, {bytes}};
}

}  // namespace torchwatch::fakes
