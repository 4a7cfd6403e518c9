/// Measures false regressions, power and cost of comparisons, next to four peers on the same
/// samples: models of noise, and noise recorded from this project's worker.

#include <algorithm>
#include <array>
#include <cmath>
#include <ctime>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

#include "claims.h"
#include "judges.h"
#include "noise.h"
#include "select_by_name.h"
#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "bisect/compare/compare.h"
#include "config/options.h"

namespace torchwatch::bench {
namespace {

using nlohmann::ordered_json;

/// Ratios of the second build to the first. At 1, every regression is false.
constexpr std::array ratios{1.0, 1.05, 1.07, 1.10, 1.15, 1.25};

struct Options {
  bool is_short = false;
  std::uint64_t seed = 1;
  std::string json;
  std::string recorded = RECORDED_NOISE;
  std::string busy = RECORDED_BUSY;
  std::string only;
  std::string judge;
};

/// The kind of a noise model. It determines the claims, in addition to few false regressions.
enum class Kind { ordinary, outlier, host, memory };

/// One judge on one model at one ratio.
struct Cell {
  int trials = 0;
  int regressions = 0;
  int unchanged = 0;
  double processes = 0;
  double squared_processes = 0;

  double alarm_rate() const { return static_cast<double>(regressions) / trials; }

  double unchanged_rate() const { return static_cast<double>(unchanged) / trials; }

  double mean_processes() const { return processes / trials; }

  double mean_pairs() const { return mean_processes() / 2; }

  /// The largest mean number of pairs that does not refute a true mean of `bound`: three standard
  /// errors more, estimated from these trials. It is exceeded once in 740 times, like with_slack.
  double pairs_with_slack(double bound) const {
    auto const mean = mean_processes();
    auto const variance = (squared_processes - trials * mean * mean) / (trials - 1);
    return bound + 3 * std::sqrt(std::max(variance, 0.0) / trials) / 2;
  }
};

struct Row {
  NoiseModel model;
  Kind kind;
  std::string judge;
  std::vector<Cell> cells;  ///< one per ratio

  Cell const& at(double ratio) const {
    return cells.at(static_cast<std::size_t>(std::ranges::find(ratios, ratio) - ratios.begin()));
  }
};

int trials_of(Options const& options, double ratio) {
  if (options.is_short) return ratio == 1 ? 400 : 60;
  return ratio == 1 ? 20'000 : 1'000;
}

Cell run(NoiseModel const& model, Judge const& judge, double ratio, Options const& options) {
  Cell cell;
  cell.trials = trials_of(options, ratio);
  for (int trial = 0; trial < cell.trials; ++trial) {
    // All judges get the same seed, so the same samples
    auto const samples = model.make(options.seed * 1'000'003 + static_cast<std::uint64_t>(trial));
    auto const judgement = judge.judge(*samples, ratio);
    cell.regressions += judgement.regression ? 1 : 0;
    cell.unchanged += judgement.unchanged ? 1 : 0;
    cell.processes += judgement.processes;
    cell.squared_processes += std::pow(judgement.processes, 2);
  }
  return cell;
}

struct Modelled {
  Kind kind;
  NoiseModel model;
};

std::string name_of(NoiseModel const& model) {
  return model.sigma > 0 ? fmt::format("{} {:.0f}%", model.name, 100 * model.sigma) : model.name;
}

std::vector<Modelled> models(Options const& options) {
  std::vector<Modelled> all;
  auto const add = [&](Kind kind, std::vector<NoiseModel> some) {
    for (auto& model : some)
      all.push_back({kind, std::move(model)});
  };
  auto const sigmas =
      options.is_short ? std::vector{0.03, 0.05} : std::vector{0.01, 0.02, 0.03, 0.05, 0.08};
  for (double const sigma : sigmas)
    add(Kind::ordinary, noise_models(sigma));
  add(Kind::ordinary, {recorded_noise("recorded", options.recorded)});
  add(Kind::host, {recorded_noise("busy host", options.busy)});
  add(Kind::outlier, outlier_models());
  add(Kind::host, host_models());
  add(Kind::memory,
      {memory_outliers(0.02, 0.2), memory_outliers(0.1, 0.2), memory_outliers(0.5, 0.1)});
  return select_by_name("--only", options.only, std::move(all), [](Modelled const& each) {
    return name_of(each.model);
  });
}

std::vector<Row> run_all(Options const& options) {
  bool const is_terminal = ::isatty(STDERR_FILENO) == 1;
  std::vector<Row> rows;
  auto const all = models(options);
  auto const asked = select_by_name(
      "--judge", options.judge, judges(), [](Judge const& judge) { return judge.name; });
  for (std::size_t i = 0; i < all.size(); ++i) {
    auto const& [kind, model] = all[i];
    for (auto const& judge : asked) {
      if (is_terminal)
        fmt::print(stderr, "\r\x1b[K{}/{} {}: {}", i + 1, all.size(), name_of(model), judge.name);
      auto& row = rows.emplace_back(Row{model, kind, judge.name, {}});
      for (double const ratio : ratios)
        row.cells.push_back(run(model, judge, ratio, options));
    }
  }
  if (is_terminal) fmt::print(stderr, "\r\x1b[K");
  return rows;
}

void print_table(std::vector<Row> const& rows) {
  fmt::print("{:<20} {:<11} {:>9} {:>9}", "noise of a process", "judge", "false", "unchanged");
  for (std::size_t i = 1; i < ratios.size(); ++i)
    fmt::print(" {:>6}", fmt::format("+{:.0f}%", 100 * (ratios.at(i) - 1)));
  fmt::print("   processes at 0 and +10%\n");
  for (auto const& row : rows) {
    fmt::print("{:<20} {:<11} {:>8.3f}% {:>8.1f}%",
               name_of(row.model),
               row.judge,
               100 * row.at(1).alarm_rate(),
               100 * row.at(1).unchanged_rate());
    for (std::size_t i = 1; i < ratios.size(); ++i)
      fmt::print(" {:>5.1f}%", 100 * row.cells.at(i).alarm_rate());
    fmt::print("   {:>5.1f} {:>6.1f}\n", row.at(1).mean_processes(), row.at(1.10).mean_processes());
  }
}

/// Bounds of the true mean numbers of pairs.
struct PairsBounds {
  double to_find;    ///< to find +10%
  double to_settle;  ///< to decide "unchanged"
};

void add_pairs_claims(std::vector<Claim>& all, Row const& row, PairsBounds const& bounds) {
  auto const name = name_of(row.model);
  auto const& none = row.at(1);
  auto const& ten = row.at(1.10);
  all.push_back(
      {name + ": pairs to find it", ten.mean_pairs(), ten.pairs_with_slack(bounds.to_find)});
  all.push_back({name + ": pairs to settle no change",
                 none.mean_pairs(),
                 none.pairs_with_slack(bounds.to_settle)});
}

/// Adds the claims of one model, except those of false verdicts.
void add_claims(std::vector<Claim>& all, Row const& row) {
  auto const name = name_of(row.model);
  auto const& none = row.at(1);
  auto const& ten = row.at(1.10);
  if (row.kind == Kind::outlier) {
    all.push_back({name + ": unchanged", none.unchanged_rate(), 0.99, true});
    all.push_back({name + ": +10% found", ten.alarm_rate(), 0.99, true});
  }
  if (row.model.name == "busy host")
    all.push_back({name + ": +10% found", ten.alarm_rate(), 0.85, true});
  if (row.kind == Kind::memory && row.model.name.starts_with("memory, 2%")) {
    all.push_back({name + ": +10% found", ten.alarm_rate(), 0.999, true});
    add_pairs_claims(all, row, {10, 6});
  }
  if (row.model.name == "normal" && row.model.sigma == 0.03) {
    all.push_back({name + ": +10% found", ten.alarm_rate(), 0.99, true});
    add_pairs_claims(all, row, {13.5, 11});
  }
  if (row.model.name == "normal" && row.model.sigma == 0.05) {
    all.push_back({name + ": +10% found", ten.alarm_rate(), 0.99, true});
    all.push_back({name + ": pairs to find it", ten.mean_pairs(), ten.pairs_with_slack(25)});
  }
}

std::vector<Claim> claims(std::vector<Row> const& rows) {
  config::DecideOptions const defaults;
  std::vector<Claim> all;
  Cell ordinary;
  for (auto const& row : rows) {
    if (row.judge != "torchwatch") continue;
    auto const name = name_of(row.model);
    auto const& none = row.at(1);
    all.push_back(
        {name + ": false regressions", none.alarm_rate(), with_slack(defaults.error, none.trials)});
    if (row.kind != Kind::memory) {  // for memory, +7% is exactly the tolerance
      auto const& at_threshold = row.at(1.07);
      all.push_back({name + ": +7% called unchanged",
                     at_threshold.unchanged_rate(),
                     with_slack(defaults.miss, at_threshold.trials)});
    }
    add_claims(all, row);
    if (row.kind != Kind::ordinary) continue;
    ordinary.trials += none.trials;
    ordinary.regressions += none.regressions;
  }
  if (ordinary.trials > 0)
    all.push_back({"ordinary noise: false regressions",
                   ordinary.alarm_rate(),
                   with_slack(defaults.error, ordinary.trials)});
  return all;
}

/// Returns the processor seconds of a comparison that only its `max_pairs` of 1,000 ends.
double seconds_of_a_thousand_pairs() {
  config::DecideOptions patient;
  patient.max_pairs = 1000;
  bisect::Compare compare{Metric::latency, patient};
  // Single pairs are clear of the tolerance, but not all together, so there is never a verdict
  constexpr std::array ratios_by_turns{1.0684, 1.0898, 1.0684, 1.0475};
  auto const began = std::clock();
  for (std::size_t i = 0; !compare.answer(); ++i)
    compare.add({.before = 100, .after = 100 * ratios_by_turns.at(i % ratios_by_turns.size())});
  return static_cast<double>(std::clock() - began) / CLOCKS_PER_SEC;
}

void write_json(std::vector<Row> const& rows, std::string const& file) {
  auto list = ordered_json::array();
  for (auto const& row : rows) {
    ordered_json entry{{"model", row.model.name}, {"sigma", row.model.sigma}, {"judge", row.judge}};
    for (std::size_t i = 0; i < ratios.size(); ++i) {
      auto const& cell = row.cells.at(i);
      entry["cells"].push_back({{"ratio", ratios.at(i)},
                                {"trials", cell.trials},
                                {"regressions", cell.regressions},
                                {"unchanged", cell.unchanged},
                                {"mean_processes", cell.mean_processes()}});
    }
    list.push_back(std::move(entry));
  }
  std::ofstream stream{file};
  stream << list.dump(2) << '\n';
  if (!stream) throw std::runtime_error(file + ": the file cannot be written");
}

}  // namespace
}  // namespace torchwatch::bench

int main(int argc, char** argv) {
  using namespace torchwatch::bench;
  Options options;
  CLI::App app{"Error rates, power and cost of comparisons, next to peers on the same samples"};
  app.add_flag("--short", options.is_short, "Take less than a minute, with fewer trials");
  app.add_option("--seed", options.seed, "Seed of all samples")->capture_default_str();
  app.add_option("--json", options.json, "Also write the table to this file");
  app.add_option("--recorded", options.recorded, "Pairs of identical builds on a quiet host")
      ->check(CLI::ExistingFile);
  app.add_option("--busy", options.busy, "Pairs of identical builds on a busy host")
      ->check(CLI::ExistingFile);
  app.add_option("--only", options.only, "Run only models whose names contain this");
  app.add_option("--judge", options.judge, "Run only judges whose names contain this");
  CLI11_PARSE(app, argc, argv);
  try {
    auto const rows = run_all(options);
    print_table(rows);
    if (!options.json.empty()) write_json(rows, options.json);
    auto all = claims(rows);
    all.push_back({"seconds to judge 1,000 pairs", seconds_of_a_thousand_pairs(), 5});
    return print_claims(all) ? 0 : 1;
  } catch (std::exception const& problem) {
    std::cerr << "compare_power: " << problem.what() << '\n';
    return 2;
  }
}
