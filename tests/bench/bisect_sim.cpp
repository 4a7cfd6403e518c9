/// How often searches name the right commit, how sure they say they are and what it costs, beside
/// four peers on the very same random numbers, over simulated days of commits.

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

#include "claims.h"
#include "commits.h"
#include "finders.h"
#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "bisect/inquiry.h"

namespace torchwatch::bench {
namespace {

using nlohmann::ordered_json;

struct Options {
  bool is_short = false;
  std::uint64_t seed = 1;
  std::string json;
};

/// One finder on one kind of day.
struct Row {
  Day day;
  std::string finder;
  int trials = 0;
  int right = 0;      ///< named exactly the commits that changed something, or rightly none
  int blamed = 0;     ///< named somebody
  double stated = 0;  ///< sums
  double runs = 0;
  double builds = 0;
  double rounds = 0;

  double share(double sum) const { return sum / trials; }
};

bool is_right(Found const& found, std::vector<Step> steps) {
  if (found.steps.size() != steps.size()) return false;
  if (steps.empty()) return found.is_unchanged;
  auto named = found.steps;
  auto const key = [](Step const& step) {
    return std::pair{step.series, step.commit};
  };
  std::ranges::sort(named, {}, key);
  std::ranges::sort(steps, {}, key);
  return std::ranges::equal(named, steps, {}, key, key);
}

Row try_finder(Finder const& finder, Day const& day, int trials, std::uint64_t seed) {
  Row row{day, finder.name};
  for (int trial = 0; trial < trials; ++trial) {
    Commits commits{day, seed * 1'000'003 + static_cast<std::uint64_t>(trial)};
    auto const found = finder.find(commits);
    ++row.trials;
    row.right += is_right(found, commits.steps()) ? 1 : 0;
    row.blamed += found.steps.empty() ? 0 : 1;
    row.stated += found.stated;
    row.runs += commits.runs();
    row.builds += static_cast<double>(commits.builds());
    row.rounds += found.rounds;
  }
  return row;
}

struct Case {
  Day day;
  std::vector<Finder> finders;
};

std::vector<Case> cases() {
  std::vector<Case> all;
  auto everybody = peers();
  everybody.insert(everybody.begin(), torchwatch(1));
  for (double const noise : {0.02, 0.03, 0.05})
    all.push_back({{64, 1, {1.10}, noise}, everybody});
  for (double const noise : {0.03, 0.05})
    all.push_back({{64, 1, {}, noise}, everybody});
  all.push_back({{64, 1, {1.10}, 0.03, 0.05}, everybody});
  auto on_a_drifting_host = peers();
  on_a_drifting_host.insert(on_a_drifting_host.begin(), torchwatch_in_pairs());
  all.push_back({{64, 1, {1.10}, 0.03, 0, 0.10}, on_a_drifting_host});
  all.push_back({{64, 1, {1.10}, 0.03}, {torchwatch_in_pairs()}});
  all.push_back({{64, 1, {1.08}, 0.03}, {torchwatch(1)}});
  all.push_back({{64, 1, {1.20}, 0.03}, {torchwatch(1), torchwatch(4)}});
  all.push_back({{64, 1, {1.10}, 0.03}, {torchwatch(4)}});
  all.push_back({{1024, 1, {1.10}, 0.03}, {torchwatch(1), torchwatch(4)}});
  all.push_back({{64, 3, {1.10, 1.10, 1.10}, 0.03}, {torchwatch(1)}});
  return all;
}

void print_header() {
  fmt::print("{:<40} {:<20} {:>6} {:>7} {:>7} {:>7} {:>7} {:>6} {:>7}\n",
             "day",
             "finder",
             "trials",
             "right",
             "stated",
             "blamed",
             "runs",
             "builds",
             "rounds");
}

void print_row(Row const& row) {
  auto const or_dash = [](double value, int digits) {
    return value == 0 ? "-" : fmt::format("{:.{}f}", value, digits);
  };
  fmt::print("{:<40} {:<20} {:>6} {:>7.4f} {:>7} {:>7.4f} {:>7.1f} {:>6.2f} {:>7}\n",
             row.day.name(),
             row.finder,
             row.trials,
             row.share(row.right),
             or_dash(row.share(row.stated), 4),
             row.share(row.blamed),
             row.share(row.runs),
             row.share(row.builds),
             or_dash(row.share(row.rounds), 1));
}

std::vector<Row> run_all(Options const& options) {
  int const trials = options.is_short ? 100 : 2000;
  bool const shows_progress = ::isatty(STDERR_FILENO) != 0;
  std::vector<Row> rows;
  print_header();
  for (auto const& [day, finders] : cases()) {
    for (auto const& finder : finders) {
      if (shows_progress) fmt::print(stderr, "\r{} {}\033[K", day.name(), finder.name);
      rows.push_back(try_finder(finder, day, trials, options.seed));
      if (shows_progress) fmt::print(stderr, "\r\033[K");
      print_row(rows.back());
    }
  }
  return rows;
}

/// The row of a finder on such a day; there is one.
Row const& row_of(std::vector<Row> const& rows, Day const& day, std::string const& finder) {
  return *std::ranges::find_if(
      rows, [&](Row const& row) { return row.day.name() == day.name() && row.finder == finder; });
}

/// `trials` of a share that is `bound` or more show as few as this, three standard deviations less.
double with_slack_below(double bound, int trials) {
  return bound - 3 * std::sqrt(bound * (1 - bound) / trials);
}

double to_a_tenth(double value) {
  return std::round(10 * value) / 10;
}

std::vector<Claim> claims(std::vector<Row> const& rows) {
  Day const quiet{64, 1, {1.10}, 0.03};
  Day const noisy{64, 1, {1.10}, 0.05};
  Day const small{64, 1, {1.08}, 0.03};
  Day const large{1024, 1, {1.10}, 0.03};
  Day const triple{64, 3, {1.10, 1.10, 1.10}, 0.03};
  auto const ours = [&](Day const& day) -> Row const& {
    return row_of(rows, day, "torchwatch");
  };
  int const trials = rows.front().trials;
  std::vector<Claim> all;
  auto const at_least = [&](std::string text, double seen, double bound) {
    all.push_back({std::move(text), seen, with_slack_below(bound, trials), true});
  };
  auto const at_most = [&](std::string text, double seen, double bound) {
    all.push_back({std::move(text), seen, bound, false});
  };
  at_least("right, +10%, noise 3%", ours(quiet).share(ours(quiet).right), 0.995);
  at_most("runs", ours(quiet).share(ours(quiet).runs), 26);
  at_most("builds, to a tenth", to_a_tenth(ours(quiet).share(ours(quiet).builds)), 8);
  at_least("right, +10%, noise 5%", ours(noisy).share(ours(noisy).right), 0.98);
  at_most("runs", ours(noisy).share(ours(noisy).runs), 50);
  at_least("right, +8%, noise 3%", ours(small).share(ours(small).right), 0.99);
  for (double const noise : {0.03, 0.05}) {
    auto const& row = ours({64, 1, {}, noise});
    at_most(fmt::format("blamed, no change, noise {:.0f}%", 100 * noise),
            row.share(row.blamed),
            with_slack(0.01, trials));
    at_most("runs", row.share(row.runs), 40);
  }
  at_most(
      "builds, 1024 commits, to a tenth", to_a_tenth(ours(large).share(ours(large).builds)), 12);
  auto const& slots = row_of(rows, quiet, "torchwatch, 4 slots");
  at_most("rounds of 4 slots by rounds of 1", slots.rounds / ours(quiet).rounds, 0.6);
  at_most("builds, 3 culprits, by 3 searches", ours(triple).builds / (3 * ours(quiet).builds), 0.7);
  for (auto const& row : rows)
    if (row.stated > 0)
      at_least("right as stated: " + row.day.name(),
               row.share(row.right),
               std::pow(bisect::Patience{}.confidence, static_cast<double>(row.day.series)));
  return all;
}

void write_json(std::vector<Row> const& rows, std::string const& file) {
  auto list = ordered_json::array();
  for (auto const& row : rows)
    list.push_back({{"commits", row.day.commits},
                    {"series", row.day.series},
                    {"ratios", row.day.ratios},
                    {"noise", row.day.noise},
                    {"strays", row.day.strays},
                    {"drift", row.day.drift},
                    {"finder", row.finder},
                    {"trials", row.trials},
                    {"right", row.share(row.right)},
                    {"stated", row.share(row.stated)},
                    {"blamed", row.share(row.blamed)},
                    {"runs", row.share(row.runs)},
                    {"builds", row.share(row.builds)},
                    {"rounds", row.share(row.rounds)}});
  std::ofstream{file} << list.dump(1) << '\n';
}

}  // namespace
}  // namespace torchwatch::bench

int main(int argc, char** argv) {
  using namespace torchwatch::bench;
  Options options;
  CLI::App app{"Accuracy and cost of searches, beside peers on the same random numbers"};
  app.add_flag("--short", options.is_short, "Within a minute");
  app.add_option("--seed", options.seed, "Of all days")->capture_default_str();
  app.add_option("--json", options.json, "Also write the table here");
  CLI11_PARSE(app, argc, argv);
  try {
    auto const rows = run_all(options);
    if (!options.json.empty()) write_json(rows, options.json);
    return print_claims(claims(rows)) ? 0 : 1;
  } catch (std::exception const& problem) {
    std::cerr << "bisect_sim: " << problem.what() << '\n';
    return 2;
  }
}
