#include "daemon/service/changed_configuration.h"

#include <algorithm>
#include <exception>
#include <iterator>
#include <set>
#include <string_view>
#include <utility>

#include <nlohmann/json.hpp>
#include <spdlog/fmt/fmt.h>
#include <spdlog/spdlog.h>

#include "config/load.h"
#include "daemon/measure/job.h"
#include "daemon/nightly/trust_figures.h"

namespace torchwatch::service {
namespace {

using nlohmann::json;
using Changes = std::vector<storage::ConfigurationChange>;
using Names = std::set<std::string>;

/// A part of the configuration, and what a change of its keys means.
struct WatchedSection {
  std::string_view name;
  std::vector<std::string_view> keys;  ///< empty: all
  std::string_view effect;
};

std::vector<WatchedSection> const& watched_sections() {
  static std::vector<WatchedSection> const sections{
      {"feed",
       {"kind", "path", "branch", "url", "channel", "python", "abi", "machine"},
       "known nightlies and their results stay; the next nightly is compared with the newest "
       "judged "
       "one, and nightlies older than that are not judged"},
      {"source",
       {"repository", "recipe", "artifacts"},
       "ended bisections stay; running ones begin again with the new builds"},
      {"measure",
       {"runs", "warmup", "min_run_ms", "threads", "pin", "leak_iterations", "seed"},
       "levels in charts may step; verdicts do not, since both builds are measured with the "
       "value"},
      {"decide", {}, "counts from the next comparison on; stored verdicts and incidents stay"},
      {"bisect", {}, "counts from the next bisection on; ended ones stay"},
      {"github",
       {"repository"},
       "new incidents are reported there; reports of earlier ones stay where they are"},
  };
  return sections;
}

std::string_view effect_of(std::string_view key) {
  for (auto const& section : watched_sections())
    if (key.starts_with(section.name) && key.substr(section.name.size()).starts_with('.'))
      return section.effect;
  return "";
}

bool is_watched(WatchedSection const& section, std::string_view key) {
  return section.keys.empty() || std::ranges::find(section.keys, key) != section.keys.end();
}

json fleets_of(config::Options const& options) {
  auto fleets = json::object();
  for (auto const& fleet : options.fleets) {
    auto benchmarks = json::array();
    for (auto const& benchmark : measure::benchmarks_of(options, fleet))
      benchmarks.push_back(name_of(benchmark));
    fleets[fleet.name] = {{"device", to_string(fleet.device)}, {"benchmarks", benchmarks}};
  }
  return fleets;
}

std::string value_of(json const& keys, std::string const& key) {
  auto const found = keys.find(key);
  return found == keys.end() ? std::string{} : found->dump();
}

Names benchmarks_in(json const& fleets, std::string const& fleet) {
  Names names;
  if (!fleets.contains(fleet)) return names;
  for (auto const& name : fleets.at(fleet).at("benchmarks"))
    names.insert(name.get<std::string>());
  return names;
}

Names difference(Names const& of, Names const& without) {
  Names rest;
  std::ranges::set_difference(of, without, std::inserter(rest, rest.end()));
  return rest;
}

/// Returns "test_eval[a-cpu-eager]", or "test_eval[a-cpu-eager] and 3 more".
std::string summary_of(Names const& names) {
  auto const& first = *names.begin();
  return names.size() == 1 ? first : fmt::format("{} and {} more", first, names.size() - 1);
}

void compare_benchmarks(std::string const& fleet,
                        Names const& before,
                        Names const& after,
                        Changes& changes) {
  auto const gone = difference(before, after);
  auto const added = difference(after, before);
  if (!gone.empty())
    changes.push_back(
        {"benchmarks of " + fleet,
         summary_of(gone),
         "",
         "no longer measured: its history stays, and its incidents become stale after "
         "decide.stale_nights nightlies"});
  if (!added.empty())
    changes.push_back({"benchmarks of " + fleet,
                       "",
                       summary_of(added),
                       "its history begins with the next nightly, or continues where it ended"});
}

/// Returns the fleets under their present names.
json renamed(json fleets, std::vector<config::FleetOptions> const& options) {
  for (auto const& fleet : options) {
    for (auto const& earlier : fleet.formerly) {
      if (!fleets.contains(earlier)) continue;
      if (!fleets.contains(fleet.name)) fleets[fleet.name] = fleets.at(earlier);
      fleets.erase(earlier);
    }
  }
  return fleets;
}

void compare_fleets(json const& before, json const& after, Changes& changes) {
  for (auto const& [name, fleet] : before.items())
    if (!after.contains(name))
      changes.push_back(
          {"fleets",
           name,
           "",
           "the fleet is gone: its history and incidents stay readable, and its mutes "
           "and accepted levels count for no other fleet; if it has a new name, put "
           "this one into fleets[].formerly of the new one"});
  for (auto const& [name, fleet] : after.items()) {
    if (!before.contains(name)) {
      changes.push_back(
          {"fleets", "", name, "a new fleet: its history begins with the next nightly"});
      continue;
    }
    compare_benchmarks(name, benchmarks_in(before, name), benchmarks_in(after, name), changes);
  }
}

/// Renames the records of fleets with earlier names.
void rename_fleets(storage::Store& store, std::vector<config::FleetOptions> const& fleets) {
  bool has_renamed = false;
  for (auto const& fleet : fleets) {
    for (auto const& earlier : fleet.formerly) {
      auto const rows = store.configurations().rename_fleet(earlier, fleet.name);
      if (rows == 0) continue;
      has_renamed = true;
      spdlog::info(
          "fleet_renamed before={} after={} rows={} effect=\"its history, incidents, "
          "rulings and alarms have the new name\"",
          earlier,
          fleet.name,
          rows);
    }
  }
  if (has_renamed) nightly::keep_trust_figures(store);
}

}  // namespace

json history_keys_of(config::Options const& options) {
  auto const shown = config::show(options);
  auto keys = json::object();
  for (auto const& section : watched_sections())
    for (auto const& [key, value] : shown.at(std::string{section.name}).items())
      if (is_watched(section, key)) keys[fmt::format("{}.{}", section.name, key)] = value;
  keys["fleets"] = fleets_of(options);
  return keys;
}

Changes changes_between(json const& before,
                        json const& after,
                        std::vector<config::FleetOptions> const& fleets) {
  Changes changes;
  for (auto const& [key, value] : after.items()) {
    // A key that an earlier program did not know is no change of the operator.
    if (key == "fleets" || !before.contains(key) || before.at(key) == value) continue;
    changes.push_back(
        {key, value_of(before, key), value_of(after, key), std::string{effect_of(key)}});
  }
  auto const known = before.find("fleets");
  if (known != before.end()) compare_fleets(renamed(*known, fleets), after.at("fleets"), changes);
  return changes;
}

Result<> adopt_configuration(storage::Store& store, config::Options const& options, Timestamp now) {
  try {
    rename_fleets(store, options.fleets);
    auto const keys = history_keys_of(options);
    auto const last = store.configurations().last();
    auto const text = keys.dump(-1, ' ', true, json::error_handler_t::replace);
    if (last == text) return {};
    auto changes = last ? changes_between(json::parse(*last), keys, options.fleets) : Changes{};
    for (auto& change : changes) {
      change.at = now;
      spdlog::info("configuration_changed key=\"{}\" before={} after={} effect=\"{}\"",
                   change.key,
                   change.before.empty() ? "none" : change.before,
                   change.after.empty() ? "none" : change.after,
                   change.effect);
    }
    store.configurations().note(text, changes);
    return {};
  } catch (std::exception const& problem) {
    return Error{ErrorCode::unavailable, std::string{"note the configuration: "} + problem.what()};
  }
}

}  // namespace torchwatch::service
