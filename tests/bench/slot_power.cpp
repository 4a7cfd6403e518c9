/// Measures how often a night shows that a slot is slow or noisy: slots that are equal, one that is
/// 10% slower, and one that is three times noisier. Prints the table of docs/fleets.md.

#include <cstdint>
#include <iostream>
#include <string>
#include <vector>

#include "claims.h"
#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "tests/bisect/slot_nights.h"

namespace torchwatch::bench {
namespace {

using tests::find_in;
using tests::SlotNights;

struct Options {
  bool is_short = false;
  std::uint64_t seed = 1;
};

/// A fleet, and the share of nights that a change of one slot must be found in.
struct Row {
  std::string name;
  SlotNights nights;
  double found_at_least = 0;
};

std::vector<Row> rows() {
  SlotNights usual;
  SlotNights three = usual;
  three.slots = 3;
  three.benchmarks = 40;
  SlotNights eight = usual;
  eight.slots = 8;
  eight.benchmarks = 100;
  SlotNights tails = usual;
  tails.heavy_tails = true;
  SlotNights shared = usual;
  shared.pace = 0.15;
  return {{"3 slots, 40 benchmarks", three, 0.9},
          {"4 slots, 60 benchmarks", usual, 0.9},
          {"8 slots, 100 benchmarks", eight, 0.9},
          {"4 slots, 60 benchmarks, t(3)", tails, 0},
          {"4 slots, 60 benchmarks, pace 15%", shared, 0}};
}

double percent(int count, int of) {
  return 100.0 * count / of;
}

void print_row(Row const& row, Options const& options, std::vector<Claim>& claims) {
  int const nights = options.is_short ? 200 : 4000;
  auto const equal = find_in(row.nights, nights, options.seed);
  auto slower = row.nights;
  slower.slower = 1.1;
  auto noisier = row.nights;
  noisier.noisier = 3;
  auto checked = row.nights;
  checked.is_checked = true;
  int const fewer = nights / 4;
  auto const slow = find_in(slower, fewer, options.seed + 1);
  auto const noisy = find_in(noisier, fewer, options.seed + 2);
  auto const well = find_in(checked, fewer, options.seed + 3);
  int const unfit = equal.first_unfit + equal.others_unfit;
  int const all = equal.nights + equal.others;
  fmt::print("| {} | {:.2f} in 1,000 | {:.1f}% | {:.1f}% | {:.1f}% |\n",
             row.name,
             1000.0 * unfit / all,
             percent(slow.first_unfit, fewer),
             percent(noisy.first_unfit, fewer),
             percent(well.first_good, fewer));
  claims.push_back({row.name + ": equal slots quarantined",
                    static_cast<double>(unfit) / all,
                    with_slack(0.001, all)});
  if (row.found_at_least == 0) return;
  claims.push_back({row.name + ": +10% found",
                    percent(slow.first_unfit, fewer) / 100,
                    row.found_at_least,
                    true});
  claims.push_back({row.name + ": three times the noise found",
                    percent(noisy.first_unfit, fewer) / 100,
                    row.found_at_least,
                    true});
}

}  // namespace
}  // namespace torchwatch::bench

int main(int argc, char** argv) {
  using namespace torchwatch::bench;
  Options options;
  CLI::App app{"Measures how often a night shows that a slot is slow or noisy"};
  app.add_flag("--short", options.is_short, "Fewer nights");
  app.add_option("--seed", options.seed, "Seed of the nights");
  CLI11_PARSE(app, argc, argv);
  fmt::print("| fleet | equal slot quarantined | +10% found | 3 x noise found | returns |\n");
  fmt::print("| --- | --- | --- | --- | --- |\n");
  std::vector<Claim> claims;
  for (auto const& row : rows())
    print_row(row, options, claims);
  std::cout << '\n';
  return print_claims(claims) ? 0 : 1;
}
