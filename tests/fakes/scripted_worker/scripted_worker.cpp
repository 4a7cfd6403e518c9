/// A worker without PyTorch: a real process that uses the real protocol and answers with the
/// numbers of <prefix>/script.json:
///
///     {"benchmarks": {"test_train[dlrm-cpu-eager]":
///                     {"latency": 10.0, "noise": 0.02, "behave": "ok"}}}
///
/// Dependencies that a build is packed with can change the numbers: each <prefix>/lib/*.json has
/// factors: {"test_train[dlrm-cpu-eager]": {"latency": 1.3}}.
///
/// Variables of the environment:
///
///     SCRIPTED_WORKER_PROTOCOL  the protocol version in its hello
///     SCRIPTED_WORKER_VERSION   the PyTorch version in its hello
///     SCRIPTED_WORKER_FACTOR    a factor of latency and CPU memory, for a slower host
///     SCRIPTED_WORKER_TIMES     when set, accounts have the times of its work ("began_at",
///                               "ended_at": seconds since 1970) and its GPU, if any ("gpu")

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <optional>
#include <random>
#include <thread>

#include "misbehaviour.h"
#include "script.h"
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "runner/protocol.h"

namespace torchwatch::fakes {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(
    Script, latency, cmem, gmem, leak, noise, seconds, behave)

namespace {

using Clock = std::chrono::steady_clock;

std::string environment(char const* name, std::string fallback) {
  char const* const value = std::getenv(name);
  return value == nullptr ? fallback : value;
}

protocol::Hello hello() {
  protocol::Hello hello;
  hello.protocol =
      std::stoi(environment("SCRIPTED_WORKER_PROTOCOL", std::to_string(protocol::version)));
  hello.role = "worker";
  hello.pytorch_version = environment("SCRIPTED_WORKER_VERSION", "1.13.1");
  hello.devices = {"cpu"};
  hello.fingerprint = {{"worker", "scripted"}};
  return hello;
}

void multiply_by_factors(nlohmann::json& entry, protocol::Job const& job) {
  std::error_code ignored;  // the build is packed with no dependency
  for (auto const& file : std::filesystem::directory_iterator{job.build.prefix + "/lib", ignored}) {
    if (file.path().extension() != ".json") continue;
    std::ifstream stream{file.path()};
    auto const factors =
        nlohmann::json::parse(stream).value(job.benchmark, nlohmann::json::object());
    for (auto const& [number, by] : factors.items())
      entry[number] = entry.at(number).get<double>() * by.get<double>();
  }
}

/// Returns the benchmark's entry of the script; nothing when it has none.
std::optional<Script> script_of(protocol::Job const& job) {
  std::ifstream file{job.build.prefix + "/script.json"};
  auto const benchmarks = nlohmann::json::parse(file).at("benchmarks");
  auto const found = benchmarks.find(job.benchmark);
  if (found == benchmarks.end()) return std::nullopt;
  auto entry = *found;
  multiply_by_factors(entry, job);
  auto script = entry.get<Script>();
  double const factor = std::stod(environment("SCRIPTED_WORKER_FACTOR", "1"));
  script.latency *= factor;
  script.cmem *= factor;
  return script;
}

/// Returns a generator with a seed that differs between processes, even with equal IDs on two
/// hosts.
std::mt19937_64 new_generator() {
  auto const now = std::chrono::system_clock::now().time_since_epoch().count();
  std::seed_seq seed{static_cast<std::int64_t>(::getpid()),
                     static_cast<std::int64_t>(now),
                     static_cast<std::int64_t>(now >> 32)};
  return std::mt19937_64{seed};
}

protocol::Value latency_of(Script const& script, int runs) {
  static auto generator = new_generator();
  static std::normal_distribution<double> normal;
  static double const process = normal(generator);
  protocol::Value latency;
  for (int run = 0; run < std::max(runs, 1); ++run) {
    double const shift = script.noise * (process + normal(generator) / 4);
    latency.samples.push_back(script.latency * std::exp(shift));
  }
  auto sorted = latency.samples;
  std::ranges::sort(sorted);
  latency.value = (sorted[(sorted.size() - 1) / 2] + sorted[sorted.size() / 2]) / 2;
  return latency;
}

protocol::Value exactly(double value) {
  return {value, {value}};
}

protocol::Outcome outcome_of(protocol::Job const& job, Script const& script) {
  protocol::Outcome outcome;
  outcome.id = job.id;
  outcome.benchmark = job.benchmark;
  outcome.metrics["latency"] = latency_of(script, job.measure.runs);
  outcome.metrics["cmem"] = exactly(script.cmem);
  outcome.metrics["leak"] = exactly(script.leak);
  if (script.gmem > 0) {
    outcome.metrics["gmem"] = exactly(script.gmem);
    outcome.accounts["gpu_trace_events"] = 1;
  }
  auto const greeting = hello();
  outcome.pytorch_version = greeting.pytorch_version;
  outcome.fingerprint = greeting.fingerprint;
  return outcome;
}

/// Waits for turns like the real worker: before it builds the model, before each run, and after the
/// last run.
void take_turns(protocol::Job const& job) {
  if (!job.takes_turns) return;
  for (int turn = 0; turn < job.measure.runs + 2; ++turn) {
    say(protocol::Ready{job.id});
    std::string line;
    std::getline(std::cin, line);
    if (!std::holds_alternative<protocol::Turn>(protocol::decode(line)))
      throw protocol::ProtocolError("waited for a turn, found another message");
  }
}

std::string behaviour_of(Script const& script, protocol::Job const& job) {
  bool const is_alone = !job.takes_turns;
  return script.behave == "no_room" && is_alone ? "ok" : script.behave;
}

double seconds_since_1970() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

void work(protocol::Job const& job) {
  auto const began_at = seconds_since_1970();
  auto const begin = Clock::now();
  auto const script = script_of(job);
  if (!script) {
    say(protocol::Failure{job.id, "unsupported", "the script has no " + job.benchmark});
    return;
  }
  say(protocol::Progress{job.id, "latency", 0, job.measure.runs});
  std::this_thread::sleep_for(std::chrono::duration<double>{script->seconds});
  auto const behaviour = behaviour_of(*script, job);
  if (misbehave(behaviour, job)) return;
  if (behaviour != "ok") {
    say(protocol::Failure{
        job.id,
        "failed",
        "behave: found \"" + behaviour + "\", allowed are the names in misbehaviour.h"});
    return;
  }
  take_turns(job);
  auto outcome = outcome_of(job, *script);
  outcome.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  if (!environment("SCRIPTED_WORKER_TIMES", "").empty()) {
    outcome.accounts["began_at"] = began_at;
    outcome.accounts["ended_at"] = seconds_since_1970();
    if (auto const gpu = environment("CUDA_VISIBLE_DEVICES", ""); !gpu.empty())
      outcome.accounts["gpu"] = std::stod(gpu);
  }
  say(outcome);
}

void serve() {
  say(hello());
  for (std::string line; std::getline(std::cin, line);) {
    auto const message = protocol::decode(line);
    auto const* const job = std::get_if<protocol::Job>(&message);
    if (job == nullptr) {
      say(protocol::Failure{"", "protocol", "found another message, allowed is a job"});
      continue;
    }
    try {
      work(*job);
    } catch (std::exception const& problem) {
      say(protocol::Failure{job->id, "failed", problem.what()});
    }
  }
}

}  // namespace

}  // namespace torchwatch::fakes

int main() {
  try {
    torchwatch::fakes::serve();
  } catch (std::exception const& problem) {
    std::cerr << "scripted-worker: " << problem.what() << '\n';
    return 1;
  }
}
