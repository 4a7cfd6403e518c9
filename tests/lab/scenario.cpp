#include "tests/lab/scenario.h"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <set>
#include <stdexcept>

#include <nlohmann/json.hpp>

namespace torchwatch::lab {

namespace {

using nlohmann::json;

[[noreturn]] void refuse(std::string const& what) {
  throw std::invalid_argument(what);
}

std::string list_of(std::set<std::string> const& keys) {
  std::string list;
  for (auto const& key : keys)
    list += (list.empty() ? "" : ", ") + key;
  return list;
}

void check_keys(json const& object,
                std::set<std::string> const& allowed,
                std::string const& where) {
  for (auto const& [key, value] : object.items()) {
    if (!allowed.contains(key))
      refuse(where + ": found the unknown key '" + key + "', allowed are " + list_of(allowed));
  }
}

std::chrono::sys_days parse_day(std::string const& text) {
  int year = 0;
  unsigned month = 0;
  unsigned day = 0;
  char rest = 0;
  auto const fields = std::sscanf(text.c_str(), "%4d-%2u-%2u%c", &year, &month, &day, &rest);
  std::chrono::year_month_day const date{
      std::chrono::year{year}, std::chrono::month{month}, std::chrono::day{day}};
  if (fields != 3 || !date.ok())
    refuse("first_nightly: found '" + text + "', allowed is YYYY-MM-DD");
  return date;
}

Effect effect_of(json const& object, std::string const& whose) {
  auto const where = whose + ".effects";
  check_keys(object, {"benchmark", "metric", "ratio", "bytes"}, where);
  Effect effect;
  object.at("benchmark").get_to(effect.benchmark);
  if (!parse_benchmark(effect.benchmark)) {
    refuse(where + ".benchmark: found '" + effect.benchmark +
           "', allowed are names like test_train[dlrm-cpu-eager]");
  }
  auto const name = object.at("metric").get<std::string>();
  auto const metric = parse_metric(name);
  if (!metric)
    refuse(where + ".metric: found '" + name + "', allowed is a metric such as latency or cmem");
  effect.metric = *metric;
  effect.ratio = object.value("ratio", effect.ratio);
  effect.bytes = object.value("bytes", effect.bytes);
  return effect;
}

Culprit culprit_of(json const& object) {
  check_keys(object, {"change", "at", "reverted_at", "effects"}, "culprits");
  Culprit culprit;
  object.at("change").get_to(culprit.change);
  object.at("at").get_to(culprit.at);
  if (auto const reverted = object.find("reverted_at"); reverted != object.end()) {
    culprit.reverted_at = reverted->get<int>();
  }
  for (auto const& effect : object.at("effects"))
    culprit.effects.push_back(effect_of(effect, "culprits"));
  return culprit;
}

Dependency dependency_of(json const& object) {
  check_keys(object, {"name", "effects"}, "dependency");
  Dependency dependency;
  object.at("name").get_to(dependency.name);
  for (auto const& effect : object.at("effects"))
    dependency.effects.push_back(effect_of(effect, "dependency"));
  return dependency;
}

Scenario scenario_of(json const& object) {
  check_keys(object,
             {"name",
              "about",
              "first_nightly",
              "base_commits",
              "commits",
              "reverts",
              "later_commits",
              "culprits",
              "broken",
              "dependency",
              "suite"},
             "scenario");
  Scenario scenario;
  object.at("name").get_to(scenario.name);
  object.at("about").get_to(scenario.about);
  scenario.first_nightly = parse_day(object.at("first_nightly").get<std::string>());
  scenario.base_commits = object.value("base_commits", scenario.base_commits);
  scenario.commits = object.value("commits", scenario.commits);
  scenario.reverts = object.value("reverts", scenario.reverts);
  if (auto const later = object.find("later_commits"); later != object.end())
    later->get_to(scenario.later_commits);
  for (auto const& culprit : object.at("culprits")) {
    scenario.culprits.push_back(culprit_of(culprit));
  }
  if (auto const broken = object.find("broken"); broken != object.end()) {
    check_keys(*broken, {"from", "until"}, "broken");
    scenario.broken = {broken->at("from").get<int>(), broken->at("until").get<int>()};
  }
  if (auto const dependency = object.find("dependency"); dependency != object.end())
    scenario.dependency = dependency_of(*dependency);
  check_keys(object.at("suite"), {"models", "tests"}, "suite");
  object.at("suite").at("models").get_to(scenario.models);
  object.at("suite").at("tests").get_to(scenario.tests);
  return scenario;
}

void check_positions(Scenario const& scenario) {
  bool const has_empty_day =
      std::ranges::any_of(scenario.later_commits, [](int commits) { return commits < 1; });
  if (scenario.base_commits < 1 || scenario.commits < 1 || scenario.reverts < 0 || has_empty_day)
    refuse("base_commits, commits, reverts, later_commits: allowed are at least 1, 1, 0 and 1");
  auto const newest = later_nightlies(scenario).back();
  std::set<int> taken;
  auto const take = [&](std::string const& key, int at, int last) {
    if (at < 1 || at > last || !taken.insert(at).second) {
      refuse(key + ": found " + std::to_string(at) + ", allowed is a free position from 1 to " +
             std::to_string(last));
    }
  };
  for (auto const& culprit : scenario.culprits) {
    take("culprits.at", culprit.at, newest);
    if (!culprit.reverted_at) continue;
    take("culprits.reverted_at", *culprit.reverted_at, newest);
    if (*culprit.reverted_at < culprit.at)
      refuse("culprits.reverted_at: found " + std::to_string(*culprit.reverted_at) +
             ", allowed is a position after culprits.at, " + std::to_string(culprit.at));
  }
  if (!scenario.broken) return;
  take("broken.from", scenario.broken->from, scenario.commits);
  take("broken.until", scenario.broken->until, scenario.commits);
  if (scenario.broken->from >= scenario.broken->until) {
    refuse("broken.until: found " + std::to_string(scenario.broken->until) +
           ", allowed is a position after broken.from, " + std::to_string(scenario.broken->from));
  }
}

}  // namespace

Result<Scenario> load_scenario(std::filesystem::path const& file) {
  std::ifstream stream{file};
  if (!stream) {
    return Error{ErrorCode::not_found, file.string() + ": scenario file cannot be read"};
  }
  try {
    auto scenario = scenario_of(json::parse(stream));
    check_positions(scenario);
    return scenario;
  } catch (std::exception const& problem) {
    return Error{ErrorCode::invalid_argument, file.string() + ": " + problem.what()};
  }
}

std::vector<int> later_nightlies(Scenario const& scenario) {
  std::vector<int> positions{scenario.commits};
  for (auto const commits : scenario.later_commits)
    positions.push_back(positions.back() + commits);
  return positions;
}

bool is_released(Scenario const& scenario, Culprit const& culprit) {
  return std::ranges::any_of(later_nightlies(scenario),
                             [&](int position) { return is_in(culprit, position); });
}

bool is_in(Culprit const& culprit, int position) {
  return position >= culprit.at && (!culprit.reverted_at || position < *culprit.reverted_at);
}

bool is_broken(Scenario const& scenario, int position) {
  return scenario.broken && position >= scenario.broken->from && position < scenario.broken->until;
}

std::string text_of(std::chrono::sys_days day) {
  std::chrono::year_month_day const date{day};
  char text[16];
  std::snprintf(text,
                sizeof text,
                "%04d-%02u-%02u",
                static_cast<int>(date.year()),
                static_cast<unsigned>(date.month()),
                static_cast<unsigned>(date.day()));
  return text;
}

}  // namespace torchwatch::lab
