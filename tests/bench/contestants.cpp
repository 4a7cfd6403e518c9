#include "contestants.h"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <filesystem>
#include <iomanip>
#include <map>
#include <regex>
#include <sstream>
#include <stdexcept>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "tests/e2e/answer.h"
#include "tests/e2e/dependencies.h"

namespace torchwatch::bench {
namespace {

namespace fs = std::filesystem;
using e2e::Finished;
using e2e::World;
using nlohmann::json;

constexpr std::chrono::hours patience{2};

/// Commits, one of which changed a benchmark according to a contestant.
using Suspects = std::vector<std::string>;

/// The answer of a contestant.
struct Statement {
  bool found_change = false;
  std::vector<Suspects> findings;
};

Grade grade_of(Statement const& statement, json const& truth) {
  auto const& culprits = truth.at("culprits");
  if (culprits.empty()) return statement.found_change ? Grade::wrong : Grade::right;
  if (statement.findings.empty()) return Grade::none;
  if (statement.findings.size() > 1) return Grade::wrong;
  auto named = statement.findings.front();
  auto const& culprit = culprits.at(0);
  auto expected = culprit.at("suspects").get<Suspects>();
  std::ranges::sort(named);
  std::ranges::sort(expected);
  if (named == expected) return Grade::right;
  bool const holds_culprit =
      std::ranges::binary_search(named, culprit.at("commit").get<std::string>());
  return holds_culprit ? Grade::range : Grade::wrong;
}

/// True when a line of a log is about that event.
bool is_event(std::string const& line, std::string const& event) {
  auto const place = line.find(event);
  return place == 0 || (place != std::string::npos && line[place - 1] == ' ');
}

double seconds_in(std::string const& line) {
  std::string const key = " seconds=";
  return std::stod(line.substr(line.find(key) + key.size()));
}

/// Counts builds and processes from a log. Both contestants log in one format.
Attempt work_in(std::string const& log) {
  Attempt attempt;
  std::istringstream lines{log};
  for (std::string line; std::getline(lines, line);) {
    if (is_event(line, "build_started commit=")) ++attempt.builds;
    if (is_event(line, "build_finished commit=")) attempt.build_seconds += seconds_in(line);
    if (is_event(line, "measured campaign=")) ++attempt.processes;
    if (is_event(line, "job_failed campaign=")) ++attempt.processes;
  }
  return attempt;
}

/// The result of a program, and its duration.
struct Timed {
  Finished finished;
  double seconds = 0;
};

Timed run_timed(World& world,
                std::vector<std::string> argv,
                std::map<std::string, std::string> const& environment = {}) {
  auto const began = std::chrono::steady_clock::now();
  auto finished = world.start_program(std::move(argv), environment).wait(patience);
  std::chrono::duration<double> const passed = std::chrono::steady_clock::now() - began;
  return {std::move(finished), passed.count()};
}

[[noreturn]] void complain(std::string const& what, Finished const& finished) {
  constexpr std::size_t most = 4000;
  auto const said = finished.out + finished.err;
  throw std::runtime_error(what + " failed with exit status " + std::to_string(finished.status) +
                           ", signal " + std::to_string(finished.signal) + ":\n" +
                           said.substr(said.size() - std::min(said.size(), most)));
}

/// Reads the findings of a check. A single suspect without a proof is not counted as named.
Statement statement_of(e2e::Answer const& answer) {
  Statement statement{.found_change = !answer.moved.empty(), .findings = {}};
  for (auto const& bisection : answer.bisections)
    for (auto const& found : bisection.findings)
      if (found.is_worse && (found.culprit || found.suspects.size() > 1))
        statement.findings.push_back(found.suspects);
  return statement;
}

/// Returns the seconds since 1970 of a time in the API's format, "2025-09-03T01:02:03Z".
std::time_t seconds_of(json const& time) {
  std::tm parts{};
  std::istringstream stream{time.get<std::string>()};
  stream >> std::get_time(&parts, "%Y-%m-%dT%H:%M:%SZ");
  if (!stream)
    throw std::runtime_error("found " + time.dump() +
                             ", allowed is a time as 2025-09-03T01:02:03Z");
  return ::timegm(&parts);
}

/// Returns the seconds from the announcement of the nightly to its incident; empty without one.
std::optional<double> alarm_seconds_of(json const& check) {
  auto const& incidents = check.at("incidents");
  if (incidents.empty()) return std::nullopt;
  return static_cast<double>(seconds_of(incidents.at(0).at("opened_at")) -
                             seconds_of(check.at("nightly").at("announced_at")));
}

/// Reads the last lines of `git bisect run`: one commit, or those that it had to skip.
Statement statement_of_git(std::string const& printed) {
  Statement statement;
  std::smatch match;
  std::regex const one{"([0-9a-f]{40}) is the first bad commit"};
  if (std::regex_search(printed, match, one)) {
    statement.findings.push_back({match[1].str()});
  } else {
    std::string const heading = "The first bad commit could be any of:\n";
    auto const place = printed.find(heading);
    if (place == std::string::npos) return statement;
    std::istringstream lines{printed.substr(place + heading.size())};
    Suspects suspects;
    for (std::string line; std::getline(lines, line) && line.size() == 40;)
      suspects.push_back(line);
    statement.findings.push_back(std::move(suspects));
  }
  statement.found_change = true;
  return statement;
}

std::string commit_of(World const& world, std::size_t nightly) {
  return world.truth().at("nightlies").at(nightly).at("commit");
}

fs::path clone(World& world) {
  auto const path = world.directory() / "clone";
  auto const cloned = run_timed(
      world, {"git", "clone", "--quiet", (world.lab() / "repository").string(), path.string()});
  if (cloned.finished.status != 0) complain("git clone", cloned.finished);
  return path;
}

std::map<std::string, std::string> environment_of(World& world, ByHand const& options) {
  auto const builds = world.directory() / "by-hand";
  fs::create_directories(builds);
  auto const source = json::parse(e2e::text_of(world.config_file())).at("source");
  return {{"RECIPE", (world.lab() / source.at("recipe").get<std::string>()).string()},
          {"BUILDS", builds.string()},
          {"TORCHWATCH", World::program()},
          {"BENCHMARK", options.benchmark},
          {"THRESHOLD", std::to_string(options.threshold)}};
}

}  // namespace

std::string to_string(Grade grade) {
  switch (grade) {
    case Grade::right:
      return "right";
    case Grade::range:
      return "range";
    case Grade::wrong:
      return "wrong";
    case Grade::none:
      return "none";
  }
  return "";
}

std::string suspected_benchmark(World const& world) {
  auto const& culprits = world.truth().at("culprits");
  if (!culprits.empty()) return culprits.at(0).at("effects").at(0).at("benchmark");
  auto const suite = json::parse(e2e::text_of(world.config_file())).at("suite");
  return "test_eval[" + suite.at("models").at(0).get<std::string>() + "-cpu-eager]";
}

void warm_up(World& world, std::string const& benchmark) {
  auto const prefix = world.directory() / "warm-up";
  e2e::build(world, world.truth().at("nightlies").at(0), prefix);
  auto const measured = run_timed(world,
                                  {World::program(),
                                   "bench",
                                   "--smoke",
                                   "--benchmark",
                                   benchmark,
                                   "--prefix",
                                   prefix.string()});
  if (measured.finished.status != 0) complain("torchwatch bench", measured.finished);
  fs::remove_all(prefix);
}

Attempt run_service(World& world) {
  auto const [finished, seconds] = run_timed(world, {World::program(), "check", "--json"});
  if (finished.signal != 0 || finished.status > 1) complain("torchwatch check", finished);
  auto attempt = work_in(finished.err);
  attempt.seconds = seconds;
  auto const answer = json::parse(finished.out);
  attempt.alarm_seconds = alarm_seconds_of(answer);
  attempt.grade = grade_of(statement_of(e2e::answer_of(answer)), world.truth());
  return attempt;
}

Attempt run_by_hand(World& world, ByHand const& options) {
  auto const repository = clone(world);
  auto const environment = environment_of(world, options);
  auto const [finished, seconds] =
      run_timed(world,
                {BISECT_BY_HAND, repository.string(), commit_of(world, 0), commit_of(world, 1)},
                environment);
  auto const statement = statement_of_git(finished.out);
  if (finished.signal != 0 || statement.findings.empty()) complain("bisect-by-hand", finished);
  auto attempt = work_in(finished.out);
  attempt.seconds = seconds;
  attempt.grade = grade_of(statement, world.truth());
  return attempt;
}

}  // namespace torchwatch::bench
