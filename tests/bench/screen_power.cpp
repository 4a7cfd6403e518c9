/// Measures the misses and confirmations of the screen between sweep and comparison, on fleets with
/// unequal series, with and without earlier nights. A second rule, which takes the fleet's median
/// noise for all series, runs on the same samples.

#include <algorithm>
#include <array>
#include <cmath>
#include <iostream>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "claims.h"
#include "noise.h"
#include <CLI/CLI.hpp>
#include <boost/math/distributions/chi_squared.hpp>
#include <fmt/format.h>

#include "bisect/compare/screen.h"

namespace torchwatch::bench {
namespace {

constexpr double quiet = 0.005;
constexpr double grown = 1.10;
constexpr double unit =
    1e9;  // levels are around 1; the scale keeps absolute minimums from mattering

struct Options {
  bool is_short = false;
  std::uint64_t seed = 1;
  std::string recorded = RECORDED_NOISE;
};

/// Series of one host. Misses are counted from the series `first_counted` on.
struct Fleet {
  std::string name;
  std::vector<NoiseModel> series;
  std::size_t first_counted = 0;
  bool holds_at_once = true;  ///< the claims hold without earlier nights
};

/// The results of a rule on the series of a fleet.
struct Seen {
  int grown = 0;
  int missed = 0;
  int unchanged = 0;
  int confirmed = 0;

  double miss_rate() const { return static_cast<double>(missed) / std::max(1, grown); }

  double confirm_rate() const { return static_cast<double>(confirmed) / std::max(1, unchanged); }

  void count(bool has_grown, bool is_counted, bool passes) {
    grown += has_grown && is_counted ? 1 : 0;
    missed += has_grown && is_counted && !passes ? 1 : 0;
    unchanged += has_grown ? 0 : 1;
    confirmed += !has_grown && passes ? 1 : 0;
  }
};

struct Row {
  Fleet const* fleet = nullptr;
  int pairs = 0;   ///< number of pairs of a sweep
  int nights = 0;  ///< number of earlier nights
  Seen now;
  Seen median;
};

NoiseModel normal_noise(double sigma) {
  return noise_models(sigma).front();
}

/// A fleet in which `loud_count` series have noise `loud`. The others are quiet.
Fleet mixture(std::string name, std::size_t count, std::size_t loud_count, double loud) {
  Fleet fleet{std::move(name), {}, count - loud_count};
  fleet.series.assign(count - loud_count, normal_noise(quiet));
  fleet.series.insert(fleet.series.end(), loud_count, normal_noise(loud));
  return fleet;
}

/// A fleet with one half quiet and increasing noise in the other half. Only the last is counted.
Fleet spread(std::string name, std::size_t count, double loudest) {
  Fleet fleet{std::move(name), {}, count - 1};
  for (std::size_t i = 0; i < count; ++i) {
    double const place =
        std::max(0.0, 2.0 * static_cast<double>(i + 1) / static_cast<double>(count) - 1);
    fleet.series.push_back(normal_noise(quiet * std::pow(loudest / quiet, place)));
  }
  return fleet;
}

/// (max - min) / min over 15 rounds of TorchBench's 157 tests on an A100, in percent. These are the
/// 0, 5, ... 100% quantiles, from arXiv 2304.14226 and its noise table.
constexpr std::array a100_ranges{0.06, 0.30, 0.41, 0.47, 0.54, 0.71, 0.91, 1.15, 1.30, 1.57,  1.84,
                                 2.16, 2.42, 3.04, 3.33, 3.75, 4.80, 5.56, 6.55, 9.69, 336.93};

double a100_noise(double place) {
  constexpr double range_of_15 =
      3.472;  // its expectation, for normal variables with standard deviation 1
  double const at = place * static_cast<double>(a100_ranges.size() - 1);
  auto const below = static_cast<std::size_t>(at);
  double const low = std::log(a100_ranges.at(below));
  double const high = std::log(a100_ranges.at(below + 1));
  double const range = std::exp(low + (at - static_cast<double>(below)) * (high - low));
  return std::log1p(range / 100) / range_of_15;
}

/// A fleet with that noise. Series above 3% are counted.
Fleet a100() {
  constexpr std::size_t count = 157;
  Fleet fleet{"A100, above 3%", {}, count};
  for (std::size_t i = 0; i < count; ++i) {
    double const sigma = a100_noise((static_cast<double>(i) + 0.5) / count);
    if (sigma > 0.03) fleet.first_counted = std::min(fleet.first_counted, i);
    fleet.series.push_back(normal_noise(sigma));
  }
  return fleet;
}

Fleet alike(std::string name, NoiseModel const& noise) {
  constexpr std::size_t count = 200;
  return {std::move(name), std::vector<NoiseModel>(count, noise), 0};
}

std::vector<Fleet> fleets(Options const& options) {
  constexpr std::size_t count = 200;
  std::vector<Fleet> all{mixture("half 0.5%, half 5%", count, count / 2, 0.05),
                         spread("half 0.5%, others to one at 5%", count, 0.05),
                         mixture("90% 0.5%, others 5%", count, count / 10, 0.05),
                         mixture("90% 0.5%, others 8%", count, count / 10, 0.08),
                         a100(),
                         mixture("0.5% but one 5%", count, 1, 0.05),
                         mixture("0.5% but one 8%", count, 1, 0.08),
                         alike("all 1%", normal_noise(0.01)),
                         alike("all 3%", normal_noise(0.03)),
                         alike("all 8%", normal_noise(0.08)),
                         alike("all t(3) 5%", noise_models(0.05).at(1)),
                         alike("recorded", recorded_noise("recorded", options.recorded))};
  // One noisy series of 200 whose two pairs happen to agree looks quiet until the second night
  all.at(5).holds_at_once = false;
  all.at(6).holds_at_once = false;
  return all;
}

std::vector<bisect::Pair> measure(Samples& samples, double ratio, int count) {
  std::vector<bisect::Pair> pairs;
  for (int i = 0; i < count; ++i) {
    auto const [before, after] = samples.next(ratio);
    pairs.push_back({unit * before, unit * after});
  }
  return pairs;
}

/// The second rule: four degrees of freedom at the median variance of the fleet, and two standard
/// errors.
std::vector<bool> by_the_median(std::vector<bisect::SweepSeries> const& sweep, double threshold) {
  std::vector<double> means;
  std::vector<double> variances;
  for (auto const& series : sweep) {
    double mean = 0;
    double squares = 0;
    auto const count = static_cast<double>(series.pairs.size());
    for (auto const& [before, after] : series.pairs)
      mean += std::log(after / before) / count;
    for (auto const& [before, after] : series.pairs)
      squares += std::pow(std::log(after / before) - mean, 2);
    means.push_back(mean);
    variances.push_back(count > 1 ? squares / (count - 1) : 0);
  }
  auto const pairs = static_cast<double>(sweep.front().pairs.size());
  if (pairs < 2) return std::vector<bool>(sweep.size(), true);
  auto sorted = variances;
  std::ranges::sort(sorted);
  boost::math::chi_squared const chi_squared{pairs - 1};
  double const usual =
      sorted.at(sorted.size() / 2) * (pairs - 1) / boost::math::median(chi_squared);
  std::vector<bool> passes;
  for (std::size_t i = 0; i < sweep.size(); ++i) {
    double const variance = (4 * usual + (pairs - 1) * variances[i]) / (3 + pairs);
    passes.push_back(means[i] + 2 * std::sqrt(variance / pairs) > std::log1p(threshold));
  }
  return passes;
}

/// Judges one night of a fleet on which one series in four grew, after its earlier nights.
void judge(Row& row, std::mt19937_64& random) {
  auto const& fleet = *row.fleet;
  std::bernoulli_distribution grows{fleet.series.size() - fleet.first_counted > 1 ? 0.25 : 1.0};
  std::vector<bool> has_grown;
  std::vector<bisect::SweepSeries> sweep;
  for (std::size_t i = 0; i < fleet.series.size(); ++i) {
    auto const samples = fleet.series[i].make(random());
    auto& series = sweep.emplace_back(bisect::SweepSeries{samples->metric(), {}});
    for (int night = 0; night < row.nights; ++night)
      series.past.push_back(measure(*samples, 1, row.pairs));
    has_grown.push_back(i >= fleet.first_counted && grows(random));
    series.pairs = measure(*samples, has_grown.back() ? grown : 1, row.pairs);
  }
  config::DecideOptions const defaults;
  auto const now = bisect::may_have_grown(sweep, defaults);
  auto const median = by_the_median(sweep, defaults.threshold);
  for (std::size_t i = 0; i < sweep.size(); ++i) {
    row.now.count(has_grown[i], i >= fleet.first_counted, now[i]);
    row.median.count(has_grown[i], i >= fleet.first_counted, median[i]);
  }
}

Row run(Fleet const& fleet, int pairs, int nights, Options const& options) {
  Row row{&fleet, pairs, nights, {}, {}};
  std::mt19937_64 random{options.seed};
  int const wanted = options.is_short ? 400 : 4'000;
  while (row.now.grown < wanted)
    judge(row, random);
  return row;
}

std::vector<Row> run_all(std::vector<Fleet> const& all, Options const& options) {
  std::vector<Row> rows;
  for (auto const& fleet : all) {
    for (int const nights : {0, 1, 5, 20})
      rows.push_back(run(fleet, 2, nights, options));
    if (options.is_short) continue;
    rows.push_back(run(fleet, 1, 0, options));
    rows.push_back(run(fleet, 3, 0, options));
    rows.push_back(run(fleet, 3, 5, options));
  }
  return rows;
}

std::string name_of(Row const& row) {
  return fmt::format("{}, {} pair{}, {} night{} before",
                     row.fleet->name,
                     row.pairs,
                     row.pairs == 1 ? "" : "s",
                     row.nights,
                     row.nights == 1 ? "" : "s");
}

void print_table(std::vector<Row> const& rows) {
  fmt::print("{:<60} {:>11} {:>11}   {:>10} {:>10}\n",
             "",
             "+10% missed",
             "by median",
             "confirmed",
             "by median");
  for (auto const& row : rows)
    fmt::print("{:<60} {:>10.2f}% {:>10.2f}%   {:>9.1f}% {:>9.1f}%\n",
               name_of(row),
               100 * row.now.miss_rate(),
               100 * row.median.miss_rate(),
               100 * row.now.confirm_rate(),
               100 * row.median.confirm_rate());
}

std::vector<Claim> claims(std::vector<Row> const& rows) {
  std::vector<Claim> all;
  for (auto const& row : rows) {
    if (row.nights > 0 || row.fleet->holds_at_once || row.pairs != 2)
      all.push_back(
          {name_of(row) + ": +10% missed", row.now.miss_rate(), with_slack(0.02, row.now.grown)});
    if (row.fleet->name == "all 1%" && row.pairs == 2 && row.nights != 1)
      all.push_back({name_of(row) + ": confirmed", row.now.confirm_rate(), 0.01});
  }
  return all;
}

}  // namespace
}  // namespace torchwatch::bench

int main(int argc, char** argv) {
  using namespace torchwatch::bench;
  Options options;
  CLI::App app{"Misses and confirmations of the screen on fleets with unequal series"};
  app.add_flag("--short", options.is_short, "Take less than a minute, with fewer changes");
  app.add_option("--seed", options.seed, "Seed of all samples")->capture_default_str();
  app.add_option("--recorded", options.recorded, "File with pairs of identical builds")
      ->check(CLI::ExistingFile);
  CLI11_PARSE(app, argc, argv);
  try {
    auto const all = fleets(options);
    auto const rows = run_all(all, options);
    print_table(rows);
    return print_claims(claims(rows)) ? 0 : 1;
  } catch (std::exception const& problem) {
    std::cerr << "screen_power: " << problem.what() << '\n';
    return 2;
  }
}
