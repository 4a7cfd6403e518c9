#include "runner/command/invocation.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include <unistd.h>

namespace torchwatch::command {
namespace {

/// Replaces each {key} in `text` by its value. Values are not searched again.
std::string filled_in(std::string_view text, Variables const& values) {
  std::string filled;
  while (!text.empty()) {
    auto const open = text.find('{');
    filled += text.substr(0, open);
    if (open == std::string_view::npos) break;
    text.remove_prefix(open);
    auto const close = text.find('}');
    auto const found = close == std::string_view::npos
                           ? values.end()
                           : values.find(std::string{text.substr(1, close - 1)});
    filled += found == values.end() ? "{" : found->second;
    text.remove_prefix(found == values.end() ? 1 : close + 1);
  }
  return filled;
}

/// The metrics of a job that names none: those of the native suite.
Wanted native_metrics() {
  Wanted wanted;
  wanted.required = {"latency"};
  wanted.allowed = {"latency", "cmem", "gmem", "leak"};
  wanted.exact = {"cmem", "gmem"};
  return wanted;
}

/// Makes the C library keep freed memory, as the other workers do. Otherwise each run may fault its
/// pages in again, which depends on the heap's last block (mallopt(3)).
void keep_freed_memory(Variables& variables) {
  variables.try_emplace("MALLOC_MMAP_THRESHOLD_", "33554432");
  variables.try_emplace("MALLOC_TRIM_THRESHOLD_", "4611686018427387904");
}

}  // namespace

std::optional<Name> parse_name(std::string const& benchmark) {
  std::string_view const start = "test_";
  auto const open = benchmark.find('[');
  if (!benchmark.starts_with(start) || open == std::string::npos || !benchmark.ends_with(']'))
    return std::nullopt;
  auto const inside = benchmark.substr(open + 1, benchmark.size() - open - 2);
  auto const first = inside.find('-');
  auto const second = first == std::string::npos ? first : inside.find('-', first + 1);
  if (second == std::string::npos) return std::nullopt;
  return Name{benchmark.substr(start.size(), open - start.size()),
              inside.substr(0, first),
              inside.substr(first + 1, second - first - 1),
              inside.substr(second + 1)};
}

Wanted wanted_by(protocol::Job const& job, Name const& name) {
  auto wanted = native_metrics();
  if (!job.metrics.empty()) {
    wanted.required = wanted.allowed = job.metrics;
    wanted.exact = job.exact;
  }
  wanted.model = name.model;
  wanted.benchmark = job.benchmark;
  return wanted;
}

std::vector<std::string> arguments_of(protocol::Job const& job,
                                      Name const& name,
                                      Build const& build) {
  Variables const values{{"model", name.model},
                         {"test", name.test},
                         {"device", name.device},
                         {"backend", name.backend},
                         {"prefix", build.prefix}};
  std::vector<std::string> arguments;
  for (auto const& argument : job.command)
    arguments.push_back(filled_in(argument, values));
  return arguments;
}

Variables environment_of(protocol::Job const& job,
                         Name const& name,
                         Build const& build,
                         Variables inherited) {
  auto variables = std::move(inherited);
  auto const threads = std::to_string(job.measure.threads);
  variables["TORCHWATCH_PREFIX"] = build.prefix;
  variables["TORCHWATCH_BENCHMARK"] = job.benchmark;
  variables["TORCHWATCH_MODEL"] = name.model;
  variables["TORCHWATCH_TEST"] = name.test;
  variables["TORCHWATCH_BACKEND"] = name.backend;
  variables["TORCHWATCH_DEVICE"] = name.device;
  variables["TORCHWATCH_THREADS"] = threads;
  variables["TORCHWATCH_SEED"] = std::to_string(job.measure.seed);
  variables.try_emplace("OMP_NUM_THREADS", threads);
  keep_freed_memory(variables);
  return variables;
}

Variables own_variables() {
  Variables variables;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    std::string const text{*entry};
    auto const equals = text.find('=');
    if (equals != std::string::npos) variables[text.substr(0, equals)] = text.substr(equals + 1);
  }
  return variables;
}

std::vector<std::string> entries_of(Variables const& variables) {
  std::vector<std::string> entries;
  for (auto const& [name, value] : variables)
    entries.push_back(name + '=' + value);
  return entries;
}

}  // namespace torchwatch::command
