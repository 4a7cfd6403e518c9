#include "tests/years/processes.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace torchwatch::years {
namespace {

/// The levels that ScriptedRounds report for unchanged builds.
constexpr double typical_ms = 10;
constexpr double typical_bytes = 64.0 * (1 << 20);

/// Runs of a process.
constexpr std::size_t runs = 3;

/// The noise that the processes of a round share, as a share of the level.
constexpr double noise_of_rounds = 0.002;

/// Bytes to which allocators round.
constexpr double grain = 64;

double grained(double bytes) {
  return std::round(bytes / grain) * grain;
}

/// Rounds to microseconds.
double rounded(double ms) {
  return std::round(ms * 1e3) / 1e3;
}

std::string fingerprint_of(std::string const& fleet, int changes) {
  nlohmann::json all{{"host", fmt::format("bench-{}-01", fleet)},
                     {"kernel", fmt::format("6.{}.0-{}-amd64", 1 + changes, 13 + 7 * changes)},
                     {"governor", "performance"},
                     {"processors", {2, 3}},
                     {"threads", 1},
                     {"libtorch", "2.9.0"},
                     {"libtorch_config", "5f0c3ab1d77e"}};
  if (fleet == "gpu") {
    all["cpu"] = "AMD EPYC 7763 64-Core Processor";
    all["gpu"] = "NVIDIA A100-SXM4-80GB";
    all["gpu_driver"] = fmt::format("{}.54.15", 550 + 10 * changes);
  } else {
    all["cpu"] = "AMD EPYC 9354P 32-Core Processor";
  }
  return all.dump();
}

struct Share {
  std::string_view op;
  double time;
  double calls;
};

/// The usual shares of operators in the time of an iteration.
constexpr std::array shares{Share{"aten::addmm", 0.31, 24},
                            Share{"aten::convolution", 0.24, 53},
                            Share{"aten::native_batch_norm", 0.11, 53},
                            Share{"aten::bmm", 0.08, 24},
                            Share{"aten::native_layer_norm", 0.06, 25},
                            Share{"aten::_softmax", 0.05, 12},
                            Share{"aten::add_.Tensor", 0.05, 190},
                            Share{"aten::copy_", 0.04, 88},
                            Share{"aten::relu_", 0.03, 49},
                            Share{"aten::mul.Tensor", 0.02, 37},
                            Share{"aten::empty.memory_format", 0.01, 214}};

/// Returns the costs of operators. `op` takes `extra` milliseconds more than usual.
std::vector<OperatorCost> costs_of(double ms, std::string_view op, double extra) {
  std::vector<OperatorCost> costs;
  for (auto const& share : shares)
    costs.push_back({std::string{share.op}, share.calls, share.time * ms, 4096 * share.calls});
  if (op.empty()) return costs;
  auto const found = std::ranges::find(costs, op, &OperatorCost::name);
  if (found != costs.end())
    found->ms += extra;
  else
    costs.push_back({std::string{op}, 12, 0.02 * ms + extra, 65536});
  return costs;
}

}  // namespace

Processes::Processes(Request const& request) : request_{request}, chance_{request.seed, "noise"} {
  for (std::string const fleet : {"cpu", "gpu"})
    hosts_[fleet].fingerprint = fingerprint_of(fleet, 0);
}

void Processes::attach_to(fakes::ScriptedRounds& rounds) {
  rounds.noise = noise_of_rounds;
  rounds.metrics = metrics_on;
  rounds.finish = [this](JobOutcome& outcome, Build const& build) {
    finish(outcome, build);
  };
}

void Processes::change_host(std::string const& fleet) {
  auto& host = host_of(fleet);
  ++host.changes;
  host.pace *= host.changes % 2 == 1 ? 1.1 : 0.9;
  host.fingerprint = fingerprint_of(fleet, host.changes);
}

void Processes::begin_round() {
  seed_ = static_cast<std::uint32_t>(chance_.below(std::size_t{1} << 32U));
  place_ = 0;
}

void Processes::finish(JobOutcome& outcome, Build const& build) {
  outcome.version = build.manifest.version;
  outcome.fingerprint = host_of(outcome.key.fleet).fingerprint;
  outcome.seconds = std::round(chance_.between(18, 75));
  outcome.seed = seed_;
  outcome.place = place_++;
  if (fails(outcome, build)) return;
  double const growth = outcome.values.at(Metric::latency).value / typical_ms;
  for (auto& [metric, value] : outcome.values)
    finish(outcome, build, metric, value);
  add_accounts(outcome);
  if (!outcome.profile.empty()) add_profile(outcome, growth);
}

bool Processes::fails(JobOutcome& outcome, Build const& build) const {
  for (auto const& one : disturbances_) {
    if (!one.error || !one.strikes(outcome, build)) continue;
    outcome.values.clear();
    outcome.error_code = one.error;
    outcome.error = one.message;
  }
  return !outcome.ok();
}

void Processes::finish(JobOutcome const& outcome,
                       Build const& build,
                       Metric metric,
                       MetricValue& value) {
  Series const series{outcome.key.fleet, outcome.key.benchmark, metric};
  if (metric != Metric::latency) {
    double const usual_bytes = metric == Metric::leak ? 1 : usual(series).level / typical_bytes;
    value.value = grained(value.value * usual_bytes);
    value.samples = {value.value};
    return;
  }
  double ratio = host_of(series.fleet).pace;
  for (auto const& one : disturbances_)
    if (one.ratio != 1 && one.strikes(outcome, build)) ratio *= one.ratio;
  finish_time(series, ratio, value);
}

void Processes::finish_time(Series const& series, double ratio, MetricValue& value) {
  constexpr double loud = 0.035;
  auto const& [level, quiet] = usual(series);
  double const noise = noisy_.contains({series.fleet, series.benchmark}) ? loud : quiet;
  double const ms = level * ratio * value.value / typical_ms * std::exp(noise * chance_.normal());
  value.samples.resize(runs);
  for (auto& sample : value.samples)
    sample = rounded(ms * (1 + 0.3 * noise * chance_.between(-1, 1)));
  auto sorted = value.samples;
  std::ranges::sort(sorted);
  value.value = sorted[sorted.size() / 2];
}

void Processes::add_accounts(JobOutcome& outcome) const {
  constexpr double of_libraries = 310e6;
  constexpr double of_driver = 512e6;
  outcome.accounts["rss_peak_bytes"] = of_libraries + outcome.values.at(Metric::cmem).value;
  auto const gpu = outcome.values.find(Metric::gmem);
  if (gpu == outcome.values.end()) return;
  outcome.accounts["gpu_device_used_bytes"] = of_driver + gpu->second.value;
  if (!outcome.key.campaign.name.starts_with(suite_profile_campaign_prefix)) return;
  Chance own{request_.seed, "gpu-time of " + name_of(outcome.key.benchmark)};
  double const idle = own.between(0.08, 0.7);
  double const movement = own.between(0.005, 0.1);
  outcome.accounts.insert({{"gpu_active_share", 1 - idle - movement},
                           {"gpu_data_movement_share", movement},
                           {"gpu_idle_share", idle}});
}

/// Adds the costs of operators. `growth`: ratio of the build's time to that of the first build.
void Processes::add_profile(JobOutcome& outcome, double growth) const {
  double const ms = outcome.values.at(Metric::latency).value;
  double const at_first = ms / std::max(1.0, growth);
  auto const op = blamed_.find({outcome.key.fleet, outcome.key.benchmark});
  outcome.profile =
      costs_of(at_first, op == blamed_.end() ? std::string_view{} : op->second, ms - at_first);
}

Usual const& Processes::usual(Series const& series) {
  auto const [found, is_new] = usuals_.try_emplace(series);
  if (is_new) found->second = usual_of(request_.seed, series);
  return found->second;
}

}  // namespace torchwatch::years
