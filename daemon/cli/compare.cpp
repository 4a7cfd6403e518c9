#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <spdlog/fmt/fmt.h>

#include "bisect/compare/suite_ratios.h"
#include "daemon/cli/command_line.h"
#include "daemon/cli/commands.h"
#include "daemon/cli/suite_levels.h"
#include "daemon/service/open_store.h"
#include "runner/catalogue/catalogue.h"

namespace torchwatch::cli {
namespace {

/// The two sides: each a file of results, or the name of a fleet in the configured database.
struct CompareRequest {
  std::string first;
  std::string second;
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

Result<SuiteLevels> read_side(std::string const& invocation,
                              std::function<Result<storage::Store>&()> open) {
  if (std::filesystem::exists(invocation)) return read_file(invocation);
  auto& store = open();
  if (!store)
    return Error{
        ErrorCode::not_found,
        invocation + ": found no such file, and no database of fleets: " + store.error().message};
  return read_fleet(*store, invocation);
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

ordered_json to_json(SidesComparison const& comparison) {
  ordered_json document;
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

std::string ratio_cell(std::map<Metric, double> const& ratios, Metric metric) {
  auto const found = ratios.find(metric);
  return found == ratios.end() ? "-" : fmt::format("{:.3f}", found->second);
}

void print_ratios(SidesComparison const& comparison) {
  constexpr auto row = "{:<42} {:>9} {:>9} {:>9}\n";
  std::cout << fmt::format(row, "benchmark", "latency", "cmem", "gmem");
  auto const print = [&](std::string const& name, std::map<Metric, double> const& ratios) {
    std::cout << fmt::format(row,
                             name,
                             ratio_cell(ratios, Metric::latency),
                             ratio_cell(ratios, Metric::cmem),
                             ratio_cell(ratios, Metric::gmem));
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

void print_table(SidesComparison const& comparison,
                 CompareRequest const& request,
                 SuiteLevels const& first,
                 SuiteLevels const& second) {
  std::cout << fmt::format(
      "{} by {}: less than 1 is less time or memory\n", request.second, request.first);
  print_ratios(comparison);
  for (auto const& key : comparison.only_first)
    std::cout << fmt::format("{}: only in {}\n", name_of_row(key), request.first);
  for (auto const& key : comparison.only_second)
    std::cout << fmt::format("{}: only in {}\n", name_of_row(key), request.second);
  std::cout << line_of_skipped(request.first, first.skipped)
            << line_of_skipped(request.second, second.skipped);
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
  auto const first = read_side(request.first, open);
  if (!first) return complain("compare", first.error().message);
  auto const second = read_side(request.second, open);
  if (!second) return complain("compare", second.error().message);
  auto const sides = bisect::sides_of(first->levels, second->levels);
  auto const comparison = compare_sides(sides.first, sides.second, domain_of);
  if (comparison.rows.empty())
    return complain("compare",
                    request.first + " and " + request.second + " have no test in common");
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
      ->add_option(
          "first", request->first, "File of `bench --json`, TorchBench's metrics file, or fleet")
      ->required();
  compare
      ->add_option("second", request->second, "File or fleet whose ratios to the first are printed")
      ->required();
  compare->add_flag("--json", request->as_json, "Print JSON");
  add_example(*compare, compare_example);
  compare->callback([request, &invocation, &chosen] {
    chosen = [request, &invocation] {
      return run_compare(*request, [&invocation] { return load_options(invocation); });
    };
  });
}

}  // namespace torchwatch::cli
