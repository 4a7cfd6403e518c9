/// Measures the cost of an idle service: processor time, memory, and the time to the first answer.
/// Next to the goals it shows a peer that ran on the same host in the same minute.

#include <algorithm>
#include <array>
#include <chrono>
#include <fstream>
#include <iostream>
#include <optional>
#include <regex>
#include <stdexcept>
#include <thread>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tests/e2e/eventually.h"
#include "tests/e2e/service.h"
#include "tests/e2e/world.h"

namespace torchwatch::bench {
namespace {

using Clock = std::chrono::steady_clock;
using e2e::Process;
using e2e::World;
using nlohmann::ordered_json;

constexpr int starts = 10;

/// A server to measure.
struct Subject {
  std::string name;
  std::vector<std::string> argv;
  std::regex says_where;  ///< matches its output once it listens; the first group is its URL
  std::string target;     ///< a path that it answers with 200
};

struct Cost {
  double idle_percent = 0;  ///< percent of one core
  double resident_mib = 0;
  double start_ms = 0;  ///< from exec to the first 200, median
};

/// Returns the URL of the server; empty until it is printed.
std::string url_of(Subject const& subject, Process const& process) {
  auto const said = process.out() + process.err();
  std::smatch found;
  return std::regex_search(said, found, subject.says_where) ? found[1].str() : std::string{};
}

/// Returns the milliseconds until the first answer.
double time_to_answer(Subject const& subject, Process const& process, Clock::time_point started) {
  constexpr std::chrono::milliseconds pause{1};
  std::string url;
  auto const answered = [&] {
    if (url.empty()) url = url_of(subject, process);
    return !url.empty() && e2e::answers(url, subject.target);
  };
  if (!e2e::eventually(answered, std::chrono::seconds{30}, pause))
    throw std::runtime_error(subject.name + " does not answer: " + process.err());
  return std::chrono::duration<double, std::milli>(Clock::now() - started).count();
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  auto const half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

double median_start_ms(World& world, Subject const& subject) {
  std::vector<double> times;
  for (int i = 0; i < starts; ++i) {
    auto const started = Clock::now();
    auto const process = world.start_program(subject.argv);
    times.push_back(time_to_answer(subject, process, started));
  }
  return median(std::move(times));
}

Cost cost_of(World& world, Subject const& subject, std::chrono::duration<double> idle) {
  Cost cost;
  cost.start_ms = median_start_ms(world, subject);
  auto const started = Clock::now();
  auto const process = world.start_program(subject.argv);
  time_to_answer(subject, process, started);
  // Work that remains after the first answer does not count as idle time
  std::this_thread::sleep_for(std::chrono::seconds{1});
  auto const before = e2e::cpu_seconds(process.pid());
  auto const begin = Clock::now();
  std::this_thread::sleep_for(idle);
  std::chrono::duration<double> const passed = Clock::now() - begin;
  cost.idle_percent = 100 * (e2e::cpu_seconds(process.pid()) - before) / passed.count();
  cost.resident_mib = e2e::resident_mib(process.pid());
  return cost;
}

Subject torchwatch() {
  return {"torchwatch serve",
          {TORCHWATCH_PROGRAM, "serve"},
          std::regex{"http_listening url=(http://\\S+)\n"},
          "/healthz"};
}

/// A common and light server.
Subject python() {
  return {"python3 -m http.server",
          {"python3", "-u", "-m", "http.server", "--bind", "127.0.0.1", "0"},
          std::regex{"\\((http://\\S+)/\\)"},
          "/"};
}

struct Row {
  char const* what;
  char const* unit;
  char const* goal;
  double below;
  double Cost::*value;
};

constexpr std::array rows{
    Row{"idle processor time", "% of a core", "< 0.1", 0.1, &Cost::idle_percent},
    Row{"resident memory", "MiB", "< 50", 50, &Cost::resident_mib},
    Row{"start to first answer", "ms", "< 100", 100, &Cost::start_ms}};

void print_table(Cost const& ours, std::string const& peer_name, std::optional<Cost> const& peer) {
  constexpr auto line = "{:<22} {:<12} {:>10} {:>7} {:>7} {:>23}\n";
  std::cout << fmt::format(line, "", "", "torchwatch", "goal", "", peer_name);
  for (auto const& row : rows) {
    auto const value = ours.*row.value;
    std::cout << fmt::format(line,
                             row.what,
                             row.unit,
                             fmt::format("{:.3f}", value),
                             row.goal,
                             value < row.below ? "met" : "missed",
                             peer ? fmt::format("{:.3f}", (*peer).*row.value) : "not here");
  }
}

ordered_json to_json(Cost const& cost) {
  return {{"idle_percent_of_a_core", cost.idle_percent},
          {"resident_mib", cost.resident_mib},
          {"start_ms", cost.start_ms}};
}

/// Measures the server; empty when its program is missing.
std::optional<Cost> cost_if_there(World& world,
                                  Subject const& subject,
                                  std::chrono::duration<double> idle) {
  try {
    return cost_of(world, subject, idle);
  } catch (std::runtime_error const& problem) {
    std::cerr << subject.name << " is not measured: " << problem.what() << '\n';
    return std::nullopt;
  }
}

void measure(std::chrono::duration<double> idle, std::string const& json_file) {
  World world;
  auto const check = world.run({"check"});
  if (check.status != 1) throw std::runtime_error("check: " + check.err);
  auto const ours = cost_of(world, torchwatch(), idle);
  auto const peer_subject = python();
  auto const peer = cost_if_there(world, peer_subject, idle);
  print_table(ours, peer_subject.name, peer);
  if (json_file.empty()) return;
  ordered_json result{{"idle_seconds", idle.count()}, {"torchwatch", to_json(ours)}};
  result["peer"] = peer ? to_json(*peer) : ordered_json{};
  result["peer_name"] = peer_subject.name;
  std::ofstream{json_file} << result.dump(2) << '\n';
}

}  // namespace
}  // namespace torchwatch::bench

int main(int argc, char** argv) {
  CLI::App app{"Measures the cost of an idle torchwatch service"};
  double seconds = 60;
  std::string json_file;
  app.add_option("--seconds", seconds, "Seconds to measure the idle service")
      ->check(CLI::Range(0.1, 86400.0))
      ->capture_default_str();
  app.add_option("--json", json_file, "Also write the result to this file");
  CLI11_PARSE(app, argc, argv);
  try {
    torchwatch::bench::measure(std::chrono::duration<double>{seconds}, json_file);
  } catch (std::exception const& problem) {
    std::cerr << "service_cost: " << problem.what() << '\n';
    return 1;
  }
}
