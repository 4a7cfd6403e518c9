#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>
#include <set>
#include <utility>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

#include "bisect/compare/suite_ratios.h"
#include "daemon/cli/command_line.h"
#include "daemon/cli/commands.h"
#include "daemon/cli/metric_columns.h"
#include "daemon/cli/suite_levels.h"
#include "daemon/service/open_store.h"
#include "runner/catalogue/catalogue.h"
#include "storage/domain/words.h"

namespace torchwatch::cli {
namespace {

/// One side: a file of results, or the name of a fleet in the configured database.
struct SideRequest {
  std::string name;
  std::string backend;  ///< empty: all
};

struct CompareRequest {
  SideRequest first;
  SideRequest second;
  std::string nightly;  ///< date of the levels of fleets; empty: the newest level of each series
  bool as_json = false;
};

using bisect::ModelTest;
using bisect::SidesComparison;
using nlohmann::ordered_json;

Result<SuiteLevels> read_file(std::string const& file) {
  std::ifstream stream{file};
  return read_levels(file, stream);
}

/// Returns the newest level of each series of a fleet.
SuiteLevels read_fleet(storage::Store& store, std::string const& fleet) {
  SuiteLevels side;
  auto const histories = store.histories();
  for (auto const& series : histories.series())
    if (series.fleet == fleet) side.levels.push_back({series, histories.of(series).back().level});
  return side;
}

/// Returns the levels of a fleet on the nightly of a date.
Result<SuiteLevels> read_fleet_on(storage::Store& store,
                                  std::string const& fleet,
                                  std::string const& date) {
  auto const nightly = store.nightlies().of_date(date);
  if (!nightly)
    return Error{ErrorCode::not_found,
                 "--nightly: found " + date +
                     ", allowed is the date of a nightly; `torchwatch nightlies` lists them"};
  SuiteLevels side;
  side.levels = store.histories().levels_of(nightly->id);
  std::erase_if(side.levels,
                [&](LevelOfSeries const& level) { return level.series.fleet != fleet; });
  if (!side.levels.empty()) return side;
  return Error{ErrorCode::not_found,
               fmt::format("{}: found no measurements of nightly {} on this fleet", fleet, date)};
}

using OpenStore = std::function<Result<storage::Store>&()>;

bool is_file(SideRequest const& side) {
  return std::filesystem::exists(side.name);
}

Result<SuiteLevels> read_all(SideRequest const& side,
                             std::string const& nightly,
                             OpenStore const& open) {
  if (is_file(side)) return read_file(side.name);
  auto& store = open();
  if (!store)
    return Error{
        ErrorCode::not_found,
        side.name + ": found no such file, and no database of fleets: " + store.error().message};
  if (nightly.empty()) return read_fleet(*store, side.name);
  return read_fleet_on(*store, side.name, nightly);
}

/// Keeps the levels of one backend. Fails when there are none.
Result<SuiteLevels> with_backend(SuiteLevels levels, SideRequest const& side) {
  if (side.backend.empty()) return levels;
  std::set<std::string> found;
  for (auto const& level : levels.levels)
    found.insert(level.series.benchmark.backend);
  std::erase_if(levels.levels, [&](LevelOfSeries const& level) {
    return level.series.benchmark.backend != side.backend;
  });
  if (!levels.levels.empty()) return levels;
  return Error{ErrorCode::not_found,
               fmt::format("{}: found no benchmark with backend \"{}\", allowed {}",
                           side.name,
                           side.backend,
                           found.empty() ? "none, since there are no measurements"
                                         : fmt::format("{}", fmt::join(found, ", ")))};
}

Result<SuiteLevels> read_side(SideRequest const& side,
                              std::string const& nightly,
                              OpenStore const& open) {
  auto levels = read_all(side, nightly, open);
  if (!levels) return levels.error();
  return with_backend(std::move(*levels), side);
}

/// Returns the side as a reader knows it: "lab", "lab (inductor)".
std::string title_of(SideRequest const& side) {
  return side.backend.empty() ? side.name : fmt::format("{} ({})", side.name, side.backend);
}

std::string_view domain_of(std::string const& model) {
  auto const* const entry = suite::find_entry(model);
  return entry == nullptr ? "" : entry->domain;
}

/// Returns device and backend, " cuda script"; empty when all tests have the same ones.
std::string place_of(ModelTest const& key) {
  std::string place;
  if (key.device) place.append(" ").append(to_string(*key.device));
  if (!key.backend.empty()) place.append(" ").append(key.backend);
  return place;
}

std::string name_of_row(ModelTest const& key) {
  return fmt::format("{} {}{}", to_string(key.test), key.model, place_of(key));
}

ordered_json word_or_null(std::string_view word) {
  return word.empty() ? ordered_json(nullptr) : ordered_json(word);
}

/// {test, device, backend}; device and backend are null when all tests have the same ones.
ordered_json to_json(ModelTest const& key) {
  return {{"test", to_string(key.test)},
          {"device", word_or_null(key.device ? to_string(*key.device) : "")},
          {"backend", word_or_null(key.backend)}};
}

/// {model, test, device, backend}.
ordered_json entry_of(ModelTest const& key) {
  ordered_json entry{{"model", key.model}};
  entry.update(to_json(key));
  return entry;
}

/// Returns the metrics that have a ratio.
std::set<Metric> metrics_with_ratio(SidesComparison const& comparison) {
  std::set<Metric> metrics;
  for (auto const& mean : comparison.means)
    metrics.insert(mean.metric);
  return metrics;
}

ordered_json to_json(SidesComparison const& comparison) {
  ordered_json document;
  document["metrics"] = ordered_json::array();
  for (auto const metric : metrics_with_ratio(comparison))
    document["metrics"].push_back({{"metric", to_string(metric)},
                                   {"unit", unit_of(metric)},
                                   {"better", words::better(metric)}});
  document["benchmarks"] = ordered_json::array();
  for (auto const& row : comparison.rows) {
    auto entry = entry_of(row.key);
    for (auto const& [metric, ratio] : row.ratios)
      entry["ratios"][std::string{to_string(metric)}] = ratio;
    document["benchmarks"].push_back(std::move(entry));
  }
  document["geometric_means"] = ordered_json::array();
  for (auto const& [of, domain, metric, ratio, count] : comparison.means) {
    auto mean = to_json(of);
    mean["metric"] = to_string(metric);
    mean["ratio"] = ratio;
    mean["benchmarks"] = count;
    mean["domain"] = word_or_null(domain);
    document["geometric_means"].push_back(std::move(mean));
  }
  auto const list = [](std::vector<ModelTest> const& keys) {
    auto entries = ordered_json::array();
    for (auto const& key : keys)
      entries.push_back(entry_of(key));
    return entries;
  };
  document["only_first"] = list(comparison.only_first);
  document["only_second"] = list(comparison.only_second);
  return document;
}

void print_json(SidesComparison const& comparison,
                SuiteLevels const& first,
                SuiteLevels const& second) {
  auto document = to_json(comparison);
  document["skipped_first"] = first.skipped;
  document["skipped_second"] = second.skipped;
  std::cout << document.dump(2) << '\n';
}

std::string ratio_cell(std::map<Metric, double> const& ratios, MetricColumn const& column) {
  auto const found = ratios.find(column.metric);
  return cell_of(column, found == ratios.end() ? "-" : value_text(column, found->second));
}

void print_ratios(SidesComparison const& comparison) {
  auto const columns = ratio_columns(metrics_with_ratio(comparison));
  std::cout << fmt::format("{:<42}{}\n", "benchmark", headings_of(columns));
  auto const print = [&](std::string const& name, std::map<Metric, double> const& ratios) {
    std::cout << fmt::format("{:<42}", name);
    for (auto const& column : columns)
      std::cout << ratio_cell(ratios, column);
    std::cout << '\n';
  };
  for (auto const& each : comparison.rows)
    print(name_of_row(each.key), each.ratios);
  std::map<std::pair<ModelTest, std::string>, std::map<Metric, double>> means;
  for (auto const& mean : comparison.means)
    means[{mean.of, mean.domain}][mean.metric] = mean.ratio;
  for (auto const& [group, ratios] : means) {
    auto const& [key, domain] = group;
    auto const of = domain.empty() ? "" : " of " + domain;
    print(fmt::format("{}{}: geometric mean{}", to_string(key.test), place_of(key), of), ratios);
  }
}

/// Returns what a ratio below 1 means: for metrics of other suites, only that it is better.
std::string_view meaning_of_less(SidesComparison const& comparison) {
  auto const metrics = metrics_with_ratio(comparison);
  bool const has_native = !metrics.empty() && *metrics.begin() <= Metric::leak;
  return has_native ? "less time or memory" : "better";
}

/// Explains the column of a metric whose higher values are better.
void print_mark(SidesComparison const& comparison) {
  auto const is_higher_better = [](Metric metric) {
    return metric.kind().is_higher_better;
  };
  if (std::ranges::any_of(metrics_with_ratio(comparison), is_higher_better))
    std::cout << "*: higher values are better, so more than 1 is better\n";
}

void print_table(SidesComparison const& comparison,
                 CompareRequest const& request,
                 SuiteLevels const& first,
                 SuiteLevels const& second) {
  auto const first_title = title_of(request.first);
  auto const second_title = title_of(request.second);
  std::cout << fmt::format(
      "{} by {}: less than 1 is {}\n", second_title, first_title, meaning_of_less(comparison));
  print_mark(comparison);
  print_ratios(comparison);
  for (auto const& key : comparison.only_first)
    std::cout << fmt::format("{}: only in {}\n", name_of_row(key), first_title);
  for (auto const& key : comparison.only_second)
    std::cout << fmt::format("{}: only in {}\n", name_of_row(key), second_title);
  std::cout << line_of_skipped(request.first.name, first.skipped)
            << line_of_skipped(request.second.name, second.skipped);
}

int run_compare(CompareRequest const& request,
                std::function<std::optional<config::Options>()> load) {
  std::optional<Result<storage::Store>> store;
  auto const open = [&]() -> Result<storage::Store>& {
    if (store) return *store;
    auto const options = load();
    if (options)
      store.emplace(storage::Store::open_reader(service::store_file(*options)));
    else
      store.emplace(Error{ErrorCode::not_found, "the configuration could not be loaded"});
    return *store;
  };
  bool const has_fleet = !is_file(request.first) || !is_file(request.second);
  if (!has_fleet && !request.nightly.empty())
    return complain("compare", "--nightly: found two files, allowed with the name of a fleet");
  // A database declares its metrics when it is opened. Files describe theirs, and declare only
  // those that are unknown.
  if (has_fleet) open();
  auto const first = read_side(request.first, request.nightly, open);
  if (!first) return complain("compare", first.error().message);
  auto const second = read_side(request.second, request.nightly, open);
  if (!second) return complain("compare", second.error().message);
  auto const sides = bisect::sides_of(first->levels, second->levels);
  auto const comparison = compare_sides(sides.first, sides.second, domain_of);
  if (comparison.rows.empty())
    return complain(
        "compare",
        title_of(request.first) + " and " + title_of(request.second) + " have no test in common");
  if (request.as_json)
    print_json(comparison, *first, *second);
  else
    print_table(comparison, request, *first, *second);
  return nothing_found;
}

constexpr auto compare_example = R"($ torchwatch bench --smoke --model resnet18 --json > fp32.json
$ torchwatch bench --smoke --model resnet18 --json --precision bf16 > bf16.json
$ torchwatch compare fp32.json bf16.json
bf16.json by fp32.json: less than 1 is less time or memory
benchmark                                    latency      cmem      gmem
train resnet18                                 0.851     0.524         -
eval resnet18                                  0.692     0.517         -
...)";

}  // namespace

void add_compare(CLI::App& app, Invocation const& invocation, Chosen& chosen) {
  auto const request = std::make_shared<CompareRequest>();
  auto* const compare = app.add_subcommand(
      "compare",
      "Prints the ratios of two results, benchmark by benchmark, and their geometric means.");
  compare
      ->add_option("first",
                   request->first.name,
                   "File of `bench --json`, TorchBench's metrics file, or fleet")
      ->required();
  compare
      ->add_option(
          "second", request->second.name, "File or fleet whose ratios to the first are printed")
      ->required();
  compare->add_option(
      "--first-backend", request->first.backend, "Backend of the first side, such as eager");
  compare->add_option(
      "--second-backend", request->second.backend, "Backend of the second side, such as inductor");
  compare->add_option(
      "--nightly",
      request->nightly,
      "Date of the nightly whose levels fleets have; default: the newest of each series");
  compare->add_flag("--json", request->as_json, "Print JSON");
  add_example(*compare, compare_example);
  compare->callback([request, &invocation, &chosen] {
    chosen = [request, &invocation] {
      return run_compare(*request, [&invocation] { return load_options(invocation); });
    };
  });
}

}  // namespace torchwatch::cli
