/// Simulates days of commits, and measures how often bisections name the right commit, the
/// probability that they state, and their cost, next to four peers on the same random numbers.

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

#include "claims.h"
#include "commits.h"
#include "finders.h"
#include "select_by_name.h"
#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "bisect/search/search_state.h"

namespace torchwatch::bench {
namespace {

using nlohmann::ordered_json;

struct Options {
  bool is_short = false;
  std::uint64_t seed = 1;
  std::string only;
  std::string json;
};

/// One finder on one kind of day.
struct Row {
  Day day;
  std::string finder;
  int trials = 0;
  int right = 0;      ///< named exactly the commits that changed a series, or correctly none
  int undecided = 0;  ///< ended undecided, or could not prove its answer
  int blamed = 0;     ///< named a commit
  int falsely = 0;    ///< named a commit that changed nothing
  int guessed = 0;    ///< called a commit most likely, without a proof, that changed nothing
  int layout = 0;     ///< reported that builds differ, but commits do not
  int gradual = 0;    ///< reported a gradual change
  double stated = 0;  ///< sum over the days that are not undecided; likewise below
  double runs = 0;
  double builds = 0;
  double rounds = 0;
  std::vector<double> milliseconds;  ///< processor time for each step, sorted

  double share(double sum) const { return sum / trials; }

  int answered() const { return trials - undecided; }

  double percentile(double percent) const {
    auto const last = static_cast<double>(milliseconds.size() - 1);
    return milliseconds.empty() ? 0 : milliseconds[static_cast<std::size_t>(last * percent / 100)];
  }
};

/// From this number of culprits on, the right answer is a gradual change.
constexpr std::size_t many = 6;

/// The share of the culprits that a right range of a gradual change contains.
constexpr double most_of_it = 0.8;

bool holds_most(Found const& found, std::vector<Step> const& steps) {
  auto const inside = std::ranges::count_if(steps, [&](Step const& step) {
    return step.commit >= found.first && step.commit <= found.last;
  });
  return static_cast<double>(inside) >= most_of_it * static_cast<double>(steps.size());
}

bool is_right(Found const& found, std::vector<Step> steps) {
  if (steps.size() >= many) return found.is_gradual && holds_most(found, steps);
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

bool has_others(std::vector<Step> const& named_ones, std::vector<Step> const& steps) {
  return std::ranges::any_of(named_ones, [&](Step const& named) {
    return std::ranges::none_of(steps, [&](Step const& step) {
      return step.series == named.series && step.commit == named.commit;
    });
  });
}

Row try_finder(Finder const& finder, Day const& day, int trials, std::uint64_t seed) {
  Row row;
  row.day = day;
  row.finder = finder.name;
  for (int trial = 0; trial < trials; ++trial) {
    Commits commits{day, seed * 1'000'003 + static_cast<std::uint64_t>(trial)};
    auto const found = finder.find(commits);
    ++row.trials;
    row.right += is_right(found, commits.steps()) ? 1 : 0;
    row.undecided += found.is_open ? 1 : 0;
    row.gradual += found.is_gradual ? 1 : 0;
    row.blamed += found.steps.empty() ? 0 : 1;
    row.falsely += has_others(found.steps, commits.steps()) ? 1 : 0;
    row.guessed += has_others(found.guesses, commits.steps()) ? 1 : 0;
    row.layout += found.is_layout ? 1 : 0;
    row.stated += found.is_open ? 0 : found.stated;
    row.milliseconds.insert(
        row.milliseconds.end(), found.milliseconds.begin(), found.milliseconds.end());
    row.runs += commits.runs();
    row.builds += static_cast<double>(commits.builds());
    row.rounds += found.rounds;
  }
  std::ranges::sort(row.milliseconds);
  return row;
}

struct Case {
  Day day;
  std::vector<Finder> finders;
  int fewer = 1;  ///< divides the number of trials, for slow searches
};

/// A day with noise of 1% and that variation between builds of equal commits.
Day day_of_builds(std::vector<double> ratios, double builds) {
  return {64, 1, std::move(ratios), 0.01, 0, 0, builds};
}

/// Number of earlier proofs from which a search learns the variation of builds.
constexpr std::size_t earlier_proofs = 12;

/// Ten commits, +1% each.
Day gradual_day(double noise) {
  return {64, 1, std::vector<double>(10, 1.01), noise};
}

void add_hostile(std::vector<Case>& all, std::vector<Finder> const& all_finders) {
  constexpr int fewer = 4;
  for (auto const shape : {Shape::two_modes, Shape::cauchy}) {
    all.push_back({{64, 1, {1.10}, 0.03, 0, 0, 0, shape}, all_finders});
    all.push_back({{64, 1, {}, 0.03, 0, 0, 0, shape}, all_finders});
  }
  for (double const noise : {0.01, 0.03}) {
    for (auto const& ratios : {std::vector<double>{1.10}, std::vector<double>{}}) {
      Day rising{64, 1, ratios, noise};
      rising.rise = 0.1;
      all.push_back({rising, {torchwatch_in_pairs(), torchwatch_proving(2)}, fewer});
    }
  }
  for (double const builds : {0.01, 0.02, 0.03}) {
    auto finders = peers();
    finders.insert(
        finders.begin(),
        {torchwatch_proving(1), torchwatch_proving(2), torchwatch_proving(2, earlier_proofs)});
    all.push_back({day_of_builds({1.10}, builds), finders, fewer});
    all.push_back({day_of_builds({}, builds), finders, fewer});
  }
  all.push_back({gradual_day(0.01), all_finders, 2 * fewer});
  all.push_back({{1000, 1, {1.10}, 0.01, 0, 0, 0.02}, {torchwatch_in_pairs()}, 2 * fewer});
}

std::vector<Case> cases() {
  std::vector<Case> all;
  auto all_finders = peers();
  all_finders.insert(all_finders.begin(), torchwatch(1));
  for (double const noise : {0.02, 0.03, 0.05})
    all.push_back({{64, 1, {1.10}, noise}, all_finders});
  for (double const noise : {0.03, 0.05})
    all.push_back({{64, 1, {}, noise}, all_finders});
  all.push_back({{64, 1, {1.10}, 0.03, 0.05}, all_finders});
  auto on_a_drifting_host = peers();
  on_a_drifting_host.insert(on_a_drifting_host.begin(), torchwatch_in_pairs());
  all.push_back({{64, 1, {1.10}, 0.03, 0, 0.10}, on_a_drifting_host});
  all.push_back({{64, 1, {1.10}, 0.03}, {torchwatch_in_pairs()}});
  all.push_back({{64, 1, {1.08}, 0.03}, {torchwatch(1)}});
  all.push_back({{64, 1, {1.20}, 0.03}, {torchwatch(1), torchwatch(4)}});
  all.push_back({{64, 1, {1.10}, 0.03}, {torchwatch(4)}});
  all.push_back({{1024, 1, {1.10}, 0.03}, {torchwatch(1), torchwatch(4)}});
  all.push_back({{64, 3, {1.10, 1.10, 1.10}, 0.03}, {torchwatch(1)}});
  all.push_back({{64, 1, {1.10}, 0.03}, {torchwatch_proving(1), torchwatch_proving(2)}, 4});
  add_hostile(all, all_finders);
  return all;
}

void print_header() {
  fmt::print(
      "{:<46} {:<27} {:>6} {:>7} {:>9} {:>7} {:>7} {:>7} {:>7} {:>7} {:>7} {:>6} {:>7} {:>7} {:>7} "
      "{:>7}\n",
      "day",
      "finder",
      "trials",
      "right",
      "undecided",
      "stated",
      "blamed",
      "falsely",
      "guessed",
      "layout",
      "runs",
      "builds",
      "rounds",
      "ms 50%",
      "ms 99%",
      "ms max");
}

void print_row(Row const& row) {
  auto const or_dash = [](double value, int digits) {
    return value == 0 ? "-" : fmt::format("{:.{}f}", value, digits);
  };
  fmt::print(
      "{:<46} {:<27} {:>6} {:>7.4f} {:>9.4f} {:>7} {:>7.4f} {:>7.4f} {:>7} {:>7} {:>7.1f} "
      "{:>6.2f} {:>7} {:>7} {:>7} {:>7}\n",
      row.day.name(),
      row.finder,
      row.trials,
      row.share(row.right),
      row.share(row.undecided),
      or_dash(row.stated / std::max(row.answered(), 1), 4),
      row.share(row.blamed),
      row.share(row.falsely),
      or_dash(row.share(row.guessed), 4),
      or_dash(row.share(row.layout), 4),
      row.share(row.runs),
      row.share(row.builds),
      or_dash(row.share(row.rounds), 1),
      or_dash(row.percentile(50), 2),
      or_dash(row.percentile(99), 1),
      or_dash(row.percentile(100), 1));
}

std::vector<Row> run_all(Options const& options) {
  int const trials = options.is_short ? 100 : 2000;
  bool const shows_progress = ::isatty(STDERR_FILENO) != 0;
  std::vector<Row> rows;
  auto const asked = select_by_name(
      "--only", options.only, cases(), [](Case const& each) { return each.day.name(); });
  print_header();
  for (auto const& [day, finders, fewer] : asked) {
    for (auto const& finder : finders) {
      if (shows_progress) fmt::print(stderr, "\r{} {}\033[K", day.name(), finder.name);
      rows.push_back(try_finder(finder, day, trials / fewer, options.seed));
      if (shows_progress) fmt::print(stderr, "\r\033[K");
      print_row(rows.back());
    }
  }
  return rows;
}

/// Returns the row of a finder on such a day; null if --only excluded it.
Row const* row_of(std::vector<Row> const& rows, Day const& day, std::string const& finder) {
  auto const found = std::ranges::find_if(
      rows, [&](Row const& row) { return row.day.name() == day.name() && row.finder == finder; });
  return found == rows.end() ? nullptr : &*found;
}

/// Returns the least share that `trials` of a share `bound` show: three standard deviations less.
double with_slack_below(double bound, int trials) {
  return bound - 3 * std::sqrt(bound * (1 - bound) / trials);
}

double to_a_tenth(double value) {
  return std::round(10 * value) / 10;
}

/// Claims that answers are right as often as stated. For a gradual change, its kind must be right.
void add_stated(std::vector<Claim>& all, Row const& row) {
  double const stated = row.stated / std::max(row.answered(), 1);
  int const right = row.day.ratios.size() >= many ? row.gradual : row.right;
  all.push_back({"right as stated: " + row.day.name(),
                 static_cast<double>(right) / std::max(row.answered(), 1),
                 with_slack_below(stated, std::max(row.answered(), 1)),
                 true});
}

/// True when builds differ and no second layout is measured. Then a search states too high a
/// probability; see bisect/DESIGN.md.
bool is_of_one_layout(Row const& row) {
  return row.day.builds > 0 && row.finder == torchwatch_proving(1).name;
}

/// Claims of proofs in two layouts, without and with a measured variation of builds.
void add_builds(std::vector<Claim>& all, std::vector<Row> const& rows, Day const& day) {
  constexpr double error = 0.01;
  for (std::string const variation : {"", ", measured"}) {
    auto const* const row = row_of(rows, day, "torchwatch, 2 layouts" + variation);
    if (row == nullptr) continue;
    auto const text = day.name() + variation;
    all.push_back({"falsely proved: " + text,
                   row->share(row->falsely),
                   with_slack(error, row->trials),
                   false});
    all.push_back({"right or undecided: " + text,
                   row->share(row->right + row->undecided),
                   with_slack_below(1 - error, row->trials),
                   true});
  }
}

void add_gradual(std::vector<Claim>& all, std::vector<Row> const& rows, Day const& day) {
  auto const* const row = row_of(rows, day, "torchwatch");
  if (row == nullptr) return;
  all.push_back({"gradual, or undecided: " + day.name(),
                 row->share(row->gradual + row->undecided),
                 with_slack_below(0.99, row->trials),
                 true});
  all.push_back({"gradual", row->share(row->gradual), with_slack_below(0.95, row->trials), true});
  all.push_back({"runs", row->share(row->runs), 150, false});
}

/// Claims that at least this share of days is right, with at most that many runs.
void add_right(std::vector<Claim>& all,
               std::vector<Row> const& rows,
               Day const& day,
               double least,
               double runs) {
  auto const* const row = row_of(rows, day, "torchwatch");
  if (row == nullptr) return;
  all.push_back(
      {"right: " + day.name(), row->share(row->right), with_slack_below(least, row->trials), true});
  all.push_back({"runs", row->share(row->runs), runs, false});
}

/// Claims of builds for +10%: with one slot, with many commits, with several slots and series.
void add_builds_made(std::vector<Claim>& all, std::vector<Row> const& rows, Day const& day) {
  auto const claim = [&](std::string text, Row const* row, double value, double bound) {
    if (row != nullptr) all.push_back({std::move(text), value, bound, false});
  };
  auto const* const alone = row_of(rows, day, "torchwatch");
  auto const* const slots = row_of(rows, day, "torchwatch, 4 slots");
  auto const* const large = row_of(rows, {1024, 1, day.ratios, day.noise}, "torchwatch");
  auto const* const triple = row_of(rows, {64, 3, {1.10, 1.10, 1.10}, day.noise}, "torchwatch");
  if (large != nullptr)
    claim("builds, 1024 commits, to a tenth", large, to_a_tenth(large->share(large->builds)), 12);
  if (alone == nullptr) return;
  claim("builds, to a tenth", alone, to_a_tenth(alone->share(alone->builds)), 8);
  if (slots != nullptr)
    claim("rounds of 4 slots by rounds of 1", slots, slots->rounds / alone->rounds, 0.6);
  if (triple != nullptr)
    claim("builds, 3 culprits, by 3 searches", triple, triple->builds / (3 * alone->builds), 0.7);
}

std::vector<Claim> claims(std::vector<Row> const& rows) {
  std::vector<Claim> all;
  add_right(all, rows, {64, 1, {1.10}, 0.03}, 0.995, 26);
  add_right(all, rows, {64, 1, {1.10}, 0.05}, 0.98, 50);
  add_right(all, rows, {64, 1, {1.08}, 0.03}, 0.99, 34);
  add_right(all, rows, {64, 1, {}, 0.03}, 0.99, 40);
  add_right(all, rows, {64, 1, {}, 0.05}, 0.99, 40);
  add_builds_made(all, rows, {64, 1, {1.10}, 0.03});
  for (auto const& row : rows)
    if (row.stated > 0 && !is_of_one_layout(row)) add_stated(all, row);
  for (double const builds : {0.01, 0.02, 0.03})
    for (std::vector<double> const& ratios : {std::vector<double>{1.10}, std::vector<double>{}})
      add_builds(all, rows, day_of_builds(ratios, builds));
  add_gradual(all, rows, gradual_day(0.01));
  for (auto const& row : rows)
    if (!row.milliseconds.empty())
      all.push_back({"ms a step, 99%: " + row.day.name(), row.percentile(99), 50, false});
  return all;
}

void write_json(std::vector<Row> const& rows, std::string const& file) {
  auto list = ordered_json::array();
  for (auto const& row : rows)
    list.push_back({{"commits", row.day.commits},
                    {"series", row.day.series},
                    {"ratios", row.day.ratios},
                    {"noise", row.day.noise},
                    {"strays", row.day.outliers},
                    {"drift", row.day.drift},
                    {"rise", row.day.rise},
                    {"builds_sd", row.day.builds},
                    {"shape", row.day.shape},
                    {"finder", row.finder},
                    {"trials", row.trials},
                    {"right", row.share(row.right)},
                    {"undecided", row.share(row.undecided)},
                    {"stated", row.stated / std::max(row.answered(), 1)},
                    {"blamed", row.share(row.blamed)},
                    {"falsely", row.share(row.falsely)},
                    {"guessed", row.share(row.guessed)},
                    {"layout", row.share(row.layout)},
                    {"runs", row.share(row.runs)},
                    {"builds", row.share(row.builds)},
                    {"rounds", row.share(row.rounds)},
                    {"ms_50", row.percentile(50)},
                    {"ms_99", row.percentile(99)},
                    {"ms_max", row.percentile(100)}});
  std::ofstream{file} << list.dump(1) << '\n';
}

}  // namespace
}  // namespace torchwatch::bench

int main(int argc, char** argv) {
  using namespace torchwatch::bench;
  Options options;
  CLI::App app{"Accuracy and cost of bisections, next to peers on the same random numbers"};
  app.add_flag("--short", options.is_short, "Take less than a minute, with fewer trials");
  app.add_option("--seed", options.seed, "Seed of all days")->capture_default_str();
  app.add_option("--only",
                 options.only,
                 "Run only days whose names contain this, and check only their claims");
  app.add_option("--json", options.json, "Also write the table to this file");
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
