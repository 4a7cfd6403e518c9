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
#include "daemon/service/open_store.h"
#include "runner/catalogue/catalogue.h"

namespace torchwatch::cli {
namespace {

/// Each a file of results, or else the name of a fleet in the configured database.
struct CompareRequest {
  std::string first;
  std::string second;
  bool as_json = false;
};

using bisect::add_levels;
using bisect::ModelTest;
using bisect::Side;
using bisect::SidesComparison;
using nlohmann::ordered_json;

constexpr auto file_form = "what \"torchwatch bench --json\" prints, or TorchBench's metrics file";

Error bad_file(std::string const& file, std::string const& found) {
  return Error{ErrorCode::invalid_argument,
               file + ": found " + found + ", allowed is " + file_form};
}

/// What `bench --json` prints: a list of benchmarks with their metrics; failed ones have none.
Result<Side> read_bench(std::string const& file, nlohmann::json const& results) {
  Side side;
  for (auto const& result : results) {
    auto const name = result.value("benchmark", "");
    auto const benchmark = parse_benchmark(name);
    if (!benchmark) return bad_file(file, "benchmark \"" + name + "\"");
    std::map<Metric, double> levels;
    auto const metrics = result.value("metrics", nlohmann::json::object());
    for (auto const& [word, value] : metrics.items())
      if (auto const metric = parse_metric(word)) levels[*metric] = value.at("value").get<double>();
    if (levels.empty()) continue;
    auto const added = add_levels(side, *benchmark, std::move(levels));
    if (!added) return within(file, added.error());
  }
  return side;
}

/// TorchBench's metrics file: {"metrics": {"test_eval[...]_latency": 60.1}}. Memory is in GB there,
/// which no ratio minds.
Result<Side> read_metrics(std::string const& file, nlohmann::json const& metrics) {
  std::map<Benchmark, std::map<Metric, double>> levels;
  for (auto const& [name, value] : metrics.items()) {
    auto const end = name.rfind("]_");
    auto const benchmark = parse_benchmark(name.substr(0, end == std::string::npos ? 0 : end + 1));
    auto const metric = benchmark ? parse_metric(name.substr(end + 2)) : std::nullopt;
    if (!metric || !value.is_number()) return bad_file(file, "metric \"" + name + "\"");
    levels[*benchmark][*metric] = value.get<double>();
  }
  Side side;
  for (auto& [benchmark, measured] : levels) {
    auto const added = add_levels(side, benchmark, std::move(measured));
    if (!added) return within(file, added.error());
  }
  return side;
}

Result<Side> read_file(std::string const& file) {
  std::ifstream stream{file};
  auto const document = nlohmann::json::parse(stream, nullptr, false);
  if (document.is_discarded()) return bad_file(file, "no JSON");
  try {
    if (document.is_array()) return read_bench(file, document);
    if (document.is_object() && document.contains("metrics"))
      return read_metrics(file, document.at("metrics"));
  } catch (nlohmann::json::exception const& problem) {
    return bad_file(file, problem.what());
  }
  return bad_file(file, "something else");
}

/// The newest levels of a fleet.
Result<Side> read_fleet(storage::Store& store, std::string const& fleet) {
  std::map<Benchmark, std::map<Metric, double>> levels;
  auto const histories = store.histories();
  for (auto const& series : histories.series()) {
    if (series.fleet != fleet) continue;
    levels[series.benchmark][series.metric] = histories.of(series).back().level;
  }
  Side side;
  for (auto& [benchmark, measured] : levels) {
    auto const added = add_levels(side, benchmark, std::move(measured));
    if (!added) return within("fleet " + fleet, added.error());
  }
  return side;
}

Result<Side> read_side(std::string const& invocation,
                       std::function<Result<storage::Store>&()> open) {
  if (std::filesystem::exists(invocation)) return read_file(invocation);
  auto& store = open();
  if (!store)
    return Error{ErrorCode::not_found,
                 invocation + ": no such file; and as a fleet: " + store.error().message};
  return read_fleet(*store, invocation);
}

std::string_view domain_of(std::string const& model) {
  auto const* const entry = suite::find_entry(model);
  return entry == nullptr ? "" : entry->domain;
}

std::string name_of_row(ModelTest const& key) {
  return fmt::format("{} {}", to_string(key.test), key.model);
}

ordered_json to_json(SidesComparison const& comparison) {
  ordered_json document;
  document["benchmarks"] = ordered_json::array();
  for (auto const& row : comparison.rows) {
    ordered_json entry{{"model", row.key.model}, {"test", to_string(row.key.test)}};
    for (auto const& [metric, ratio] : row.ratios)
      entry["ratios"][std::string{to_string(metric)}] = ratio;
    document["benchmarks"].push_back(std::move(entry));
  }
  document["geometric_means"] = ordered_json::array();
  for (auto const& [of, domain, metric, ratio, count] : comparison.means)
    document["geometric_means"].push_back(
        {{"test", to_string(of.test)},
         {"metric", to_string(metric)},
         {"ratio", ratio},
         {"benchmarks", count},
         {"domain", domain.empty() ? ordered_json(nullptr) : ordered_json(domain)}});
  auto const list = [](std::vector<ModelTest> const& keys) {
    auto names = ordered_json::array();
    for (auto const& key : keys)
      names.push_back({{"model", key.model}, {"test", to_string(key.test)}});
    return names;
  };
  document["only_first"] = list(comparison.only_first);
  document["only_second"] = list(comparison.only_second);
  return document;
}

std::string ratio_cell(std::map<Metric, double> const& ratios, Metric metric) {
  auto const found = ratios.find(metric);
  return found == ratios.end() ? "-" : fmt::format("{:.3f}", found->second);
}

void print_table(SidesComparison const& comparison, CompareRequest const& request) {
  constexpr auto row = "{:<42} {:>9} {:>9} {:>9}\n";
  std::cout << fmt::format(
      "{} by {}: less than 1 is less time or memory\n", request.second, request.first);
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
  std::map<std::pair<Test, std::string>, std::map<Metric, double>> means;
  for (auto const& mean : comparison.means)
    means[{mean.of.test, mean.domain}][mean.metric] = mean.ratio;
  for (auto const& [group, ratios] : means) {
    auto const& [test, domain] = group;
    auto const of = domain.empty() ? "" : " of " + domain;
    print(fmt::format("{}: geometric mean{}", to_string(test), of), ratios);
  }
  for (auto const& key : comparison.only_first)
    std::cout << fmt::format("{}: only in {}\n", name_of_row(key), request.first);
  for (auto const& key : comparison.only_second)
    std::cout << fmt::format("{}: only in {}\n", name_of_row(key), request.second);
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
      store.emplace(Error{ErrorCode::not_found, "no configuration names a database"});
    return *store;
  };
  auto const first = read_side(request.first, open);
  if (!first) return complain("compare", first.error().message);
  auto const second = read_side(request.second, open);
  if (!second) return complain("compare", second.error().message);
  auto const comparison = compare_sides(*first, *second, domain_of);
  if (comparison.rows.empty())
    return complain("compare",
                    request.first + " and " + request.second + " have no test in common");
  if (request.as_json)
    std::cout << to_json(comparison).dump(2) << '\n';
  else
    print_table(comparison, request);
  return nothing_found;
}

}  // namespace

void add_compare(CLI::App& app, Invocation const& invocation, Chosen& chosen) {
  auto const request = std::make_shared<CompareRequest>();
  auto* const compare =
      app.add_subcommand("compare", "Ratios of two sides over the suite, and their means");
  compare->add_option("first", request->first, "File of `bench --json`, or a fleet")->required();
  compare->add_option("second", request->second, "The same; its ratio to the first")->required();
  compare->add_flag("--json", request->as_json, "Print JSON");
  compare->callback([request, &invocation, &chosen] {
    chosen = [request, &invocation] {
      return run_compare(*request, [&invocation] { return load_options(invocation); });
    };
  });
}

}  // namespace torchwatch::cli
