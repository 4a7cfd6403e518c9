#include "config/check_suites.h"

#include <algorithm>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "config/suites.h"

namespace torchwatch::config {
namespace {

namespace fs = std::filesystem;

/// A suite and its path in the file.
struct PlacedSuite {
  std::string path;
  SuiteOptions const& suite;
};

std::string path_of_suite(std::size_t place) {
  return "suites[" + std::to_string(place) + "]";
}

/// Returns the suite `native` first, then the others.
std::vector<PlacedSuite> placed_suites(Options const& options) {
  std::vector<PlacedSuite> placed;
  auto const named = std::ranges::find_if(options.suites, &SuiteOptions::is_native);
  if (named == options.suites.end()) placed.push_back({"suite", options.suite});
  for (std::size_t i = 0; i < options.suites.size(); ++i)
    placed.push_back({path_of_suite(i), options.suites[i]});
  return placed;
}

/// True for a file next to the configuration. A directory, or a path with a placeholder in it, is
/// one only if it is written with a slash: other words may be equal to its name by chance.
bool is_path(std::string const& word, fs::path const& directory) {
  std::error_code ignored;
  if (fs::is_regular_file(directory / word, ignored)) return true;
  auto const fixed = word.substr(0, word.find('{'));
  return fixed.find('/') != std::string::npos && fs::exists(directory / fixed, ignored);
}

/// Makes the paths in a command absolute. The first word is a program of PATH unless it contains a
/// slash.
void complete_command(std::vector<std::string>& command, fs::path const& directory) {
  for (std::size_t i = 0; i < command.size(); ++i) {
    auto& word = command[i];
    bool const may_be_path = i > 0 || word.find('/') != std::string::npos;
    if (may_be_path && is_path(word, directory))
      word = (directory / word).lexically_normal().string();
  }
}

void complete_metrics(std::map<std::string, MetricOptions>& metrics) {
  for (auto& [name, options] : metrics) {
    auto const metric = parse_metric(name);
    if (metric && is_native(*metric) && options == MetricOptions{})
      options = options_of(metric->kind());
  }
}

void complete_suite(Json const& json, fs::path const& directory, SuiteOptions& suite) {
  complete_metrics(suite.metrics);
  if (suite.command.empty()) return;
  complete_command(suite.command, directory);
  if (!json.contains("tests")) suite.tests = {parse_test("run").value()};
  if (!json.contains("backend")) suite.backend = suite.name;
}

/// Checks that one program measures the suite.
void check_program(PlacedSuite const& placed, Complaints& complaints) {
  auto const& [path, suite] = placed;
  bool const has_worker = !suite.worker.empty();
  bool const has_command = !suite.command.empty();
  if (has_worker && has_command)
    complaints.add(path, "worker and command", "one of them");
  else if (suite.is_native() && has_command)
    complaints.add(
        path + ".command", "a command of the suite native", "none, or another name of the suite");
  else if (!suite.is_native() && !has_worker && !has_command)
    complaints.add(path, "neither worker nor command", "one of them");
  if (suite.waits && !has_command)
    complaints.add(path + ".waits", "true without a command", "false: workers always wait");
}

/// Checks the models of the native suite. Only it has a list of all models, which are eager. Other
/// backends run files, which need names.
void check_native_models(PlacedSuite const& placed, Complaints& complaints) {
  auto const& [path, suite] = placed;
  bool const takes_all = std::ranges::count(suite.models, all_models) > 0;
  for (auto const& backend : backends_of(suite))
    if (backend != "eager" && takes_all)
      complaints.add(path + ".models",
                     found(std::string{all_models}) + " with the backend " + found(backend),
                     "names of files in " + path + ".files");
  for (std::size_t i = 0; i < suite.tests.size(); ++i)
    if (suite.tests[i] != Test::train && suite.tests[i] != Test::eval)
      complaints.add(path + ".tests[" + std::to_string(i) + "]",
                     found(to_string(suite.tests[i])),
                     "one of \"train\", \"eval\"");
}

void check_models(PlacedSuite const& placed, Complaints& complaints) {
  auto const& [path, suite] = placed;
  bool const takes_all = std::ranges::count(suite.models, all_models) > 0;
  if (suite.is_native())
    check_native_models(placed, complaints);
  else if (takes_all)
    complaints.add(path + ".models",
                   found(std::string{all_models}),
                   "names of models: only the suite native has a list of all");
  if (takes_all && suite.models.size() > 1)
    complaints.add(
        path + ".models", found(std::string{all_models}) + " and other names", "one or the other");
}

/// Checks that the operator's packages do not hide the PyTorch of the build.
void check_environment(PlacedSuite const& placed, Complaints& complaints) {
  auto const& [path, suite] = placed;
  auto const packages = suite.environment.find("PYTHONPATH");
  if (packages == suite.environment.end()) return;
  std::istringstream directories{packages->second};
  for (std::string directory; std::getline(directories, directory, ':');) {
    std::error_code ignored;
    if (fs::exists(fs::path{directory} / "torch" / "__init__.py", ignored))
      complaints.add(path + ".environment.PYTHONPATH",
                     found(directory) + ", which contains torch",
                     "packages without torch: each build has its own");
  }
}

/// Checks that each variable has one value: the runner chooses the directories of caches.
void check_caches(PlacedSuite const& placed, Complaints& complaints) {
  auto const& [path, suite] = placed;
  for (std::size_t i = 0; i < suite.caches.size(); ++i)
    if (suite.environment.contains(suite.caches[i]))
      complaints.add(path + ".caches[" + std::to_string(i) + "]",
                     found(suite.caches[i]) + ", which environment also sets",
                     "a variable in one of them: torchwatch chooses the directories of caches");
}

void check_metric(std::string const& path,
                  std::string const& name,
                  MetricOptions const& options,
                  Complaints& complaints) {
  constexpr double least_threshold = 0.001;  // as of decide.threshold
  auto const metric = parse_metric(name);
  bool const is_of_native = metric && is_native(*metric);
  if (is_of_native && options != options_of(metric->kind()))
    complaints.add(path,
                   description_of(options),
                   "no fields: " + name + " is " + description_of(options_of(metric->kind())) +
                       " in all suites");
  if (!is_of_native && options.unit.empty())
    complaints.add(path + ".unit", "nothing", "a unit, such as ms, bytes or 1/s");
  if (options.threshold > 0 && options.threshold < least_threshold)
    complaints.add(path + ".threshold",
                   found(options.threshold),
                   "0 for decide.threshold, or a number from 0.001 to 1");
}

void check_metrics(PlacedSuite const& placed, Complaints& complaints) {
  auto const& [path, suite] = placed;
  if (suite.metrics.empty() && !suite.command.empty())
    complaints.add(path + ".metrics", "nothing", "at least one: a command has no others");
  for (auto const& [name, options] : suite.metrics)
    check_metric(member_path(path + ".metrics", name), name, options, complaints);
}

/// Metrics have one declaration, because their name stands alone in results and reports.
void check_metrics_agree(std::vector<PlacedSuite> const& suites, Complaints& complaints) {
  std::map<std::string, std::pair<MetricOptions, std::string>> declared;
  for (auto const& [path, suite] : suites) {
    for (auto const& [name, options] : suite.metrics) {
      auto const [first, is_new] = declared.try_emplace(name, options, suite.name);
      auto const& [earlier, other] = first->second;
      if (is_new || earlier == options) continue;
      complaints.add(
          member_path(path + ".metrics", name),
          description_of(options),
          description_of(earlier) + ", as in suite " + found(other) + "; or another name");
    }
  }
}

std::vector<std::string> names_without_device(SuiteOptions const& suite) {
  std::vector<std::string> names;
  for (auto const& model : suite.models)
    for (auto const& test : suite.tests)
      for (auto const& backend : backends_of(suite))
        names.push_back("test_" + to_string(test) + "[" + model + "-DEVICE-" + backend + "]");
  return names;
}

/// A benchmark's name decides which suite measures it.
void check_benchmarks_differ(std::vector<PlacedSuite> const& suites, Complaints& complaints) {
  std::map<std::string, std::string> suite_of;
  for (auto const& [path, suite] : suites) {
    for (auto const& name : names_without_device(suite)) {
      auto const [first, is_new] = suite_of.try_emplace(name, suite.name);
      if (is_new || first->second == suite.name) continue;
      complaints.add(path + ".models",
                     name + ", which suite " + found(first->second) + " also has",
                     "each benchmark in one suite; another backend makes another benchmark");
      break;
    }
  }
}

void check_names_of_fleets(Options const& options, Complaints& complaints) {
  std::string allowed = found(std::string{native_suite});
  std::set<std::string> names{native_suite};
  for (auto const& suite : options.suites)
    if (names.insert(suite.name).second) allowed += ", " + found(suite.name);
  for (std::size_t i = 0; i < options.fleets.size(); ++i) {
    auto const& chosen = options.fleets[i].suites;
    for (std::size_t k = 0; k < chosen.size(); ++k)
      if (!names.contains(chosen[k]))
        complaints.add("fleets[" + std::to_string(i) + "].suites[" + std::to_string(k) + "]",
                       found(chosen[k]) + ", which is not a suite",
                       "one of " + allowed);
  }
}

void check_fleets_of_suites(Options const& options, Complaints& complaints) {
  for (std::size_t i = 0; i < options.suites.size(); ++i) {
    auto const& suite = options.suites[i];
    bool const has_fleet = std::ranges::any_of(
        options.fleets, [&suite](FleetOptions const& fleet) { return runs(fleet, suite); });
    if (!has_fleet)
      complaints.add(path_of_suite(i) + ".name",
                     found(suite.name) + ", which no fleet runs",
                     "a suite that a fleet names in its suites");
  }
}

void check_names_of_suites(Options const& options, Complaints& complaints) {
  std::set<std::string> names;
  for (std::size_t i = 0; i < options.suites.size(); ++i) {
    auto const& name = options.suites[i].name;
    if (!names.insert(name).second)
      complaints.add(
          path_of_suite(i) + ".name", found(name) + " again", "a name that no other suite has");
  }
}

}  // namespace

void complete_suites(Json const& json, fs::path const& directory, Options& options) {
  for (std::size_t i = 0; i < options.suites.size(); ++i)
    complete_suite(json.at("suites").at(i), directory, options.suites[i]);
  auto const native = std::ranges::find_if(options.suites, &SuiteOptions::is_native);
  if (native != options.suites.end()) options.suite = *native;
}

void check_suites(Options const& options, Complaints& complaints) {
  check_names_of_suites(options, complaints);
  auto const suites = placed_suites(options);
  for (auto const& placed : suites) {
    check_program(placed, complaints);
    check_models(placed, complaints);
    check_environment(placed, complaints);
    check_metrics(placed, complaints);
    check_caches(placed, complaints);
  }
  if (complaints.about("suite") || complaints.about("suites")) return;
  check_benchmarks_differ(suites, complaints);
  check_metrics_agree(suites, complaints);
  if (complaints.about("fleets")) return;
  check_names_of_fleets(options, complaints);
  if (!complaints.about("fleets")) check_fleets_of_suites(options, complaints);
}

}  // namespace torchwatch::config
