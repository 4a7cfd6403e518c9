#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

#include "bisect/compare/slot_comparison.h"
#include "bisect/compare/statistics.h"

namespace torchwatch::tests {

/// Nights of a fleet. Slot 0 may be slower or noisier than the others.
struct SlotNights {
  std::size_t slots = 4;
  std::size_t benchmarks = 60;
  std::size_t pairs = 2;     ///< rounds of each benchmark, on different slots
  double pace = 0.03;        ///< noise between rounds
  double process = 0.01;     ///< noise between processes; benchmarks differ by a factor of two
  double run = 0.02;         ///< noise between runs, likewise; 0: no runs are known
  std::size_t runs = 10;     ///< runs of a process
  double slower = 1;         ///< level of slot 0
  double noisier = 1;        ///< noise of slot 0
  bool heavy_tails = false;  ///< Student's t with three degrees of freedom instead of the normal
  bool is_checked = false;   ///< slot 0 is quarantined: it measures 24 check rounds
};

/// Draws the rounds of nights.
class SlotNightDraw {
 public:
  SlotNightDraw(SlotNights nights, std::uint64_t seed) : nights_{nights}, generator_{seed} {}

  std::vector<bisect::SlotRound> night() {
    std::vector<bisect::SlotRound> rounds;
    for (std::size_t unit = 0; unit < nights_.benchmarks; ++unit) {
      double const scale = std::exp(0.7 * normal());
      for (auto const slot : slots_of_unit())
        rounds.push_back(round(unit, slot, scale));
      if (nights_.is_checked && unit < checks) rounds.push_back(round(unit, 0, scale));
    }
    return rounds;
  }

 private:
  static constexpr std::size_t checks = 24;

  double normal() { return std::normal_distribution<double>{}(generator_); }

  double deviation() {
    if (!nights_.heavy_tails) return normal();
    return std::student_t_distribution<double>{3}(generator_);
  }

  std::vector<std::size_t> slots_of_unit() {
    std::size_t const first = nights_.is_checked ? 1 : 0;
    std::vector<std::size_t> slots(nights_.slots - first);
    std::iota(slots.begin(), slots.end(), first);
    std::ranges::shuffle(slots, generator_);
    slots.resize(std::min(slots.size(), nights_.pairs));
    return slots;
  }

  bisect::SlotRound round(std::size_t unit, std::size_t slot, double scale) {
    double const noise = slot == 0 ? nights_.noisier : 1;
    double const level =
        (slot == 0 ? nights_.slower : 1) * std::exp(noise * nights_.pace * deviation());
    bisect::SlotRound round{unit, slot, {}};
    for (int process = 0; process < 2; ++process) {
      round.costs.push_back(level * std::exp(noise * scale * nights_.process * deviation()));
      if (nights_.run > 0) round.run_spreads.push_back(spread(noise * scale * nights_.run));
    }
    return round;
  }

  double spread(double noise) {
    std::vector<double> runs;
    for (std::size_t run = 0; run < nights_.runs; ++run)
      runs.push_back(std::exp(noise * deviation()));
    return bisect::spread(runs);
  }

  SlotNights nights_;
  std::mt19937_64 generator_;
};

/// The findings about slots in many nights.
struct SlotFindings {
  int nights = 0;
  int first_unfit = 0;   ///< nights on which slot 0 was slow or noisy
  int first_good = 0;    ///< nights on which slot 0 was good
  int others_unfit = 0;  ///< other slots that were slow or noisy, over all nights
  int others = 0;        ///< other slots, over all nights
};

inline SlotFindings find_in(SlotNights const& nights, int count, std::uint64_t seed) {
  using enum bisect::SlotFinding;
  SlotNightDraw draw{nights, seed};
  SlotFindings found;
  for (int night = 0; night < count; ++night) {
    auto const figures = bisect::compare_slots(draw.night(), nights.slots);
    for (std::size_t slot = 0; slot < nights.slots; ++slot) {
      auto const finding = bisect::finding_of(figures[slot]);
      int const unfit = finding == slow || finding == noisy ? 1 : 0;
      (slot == 0 ? found.first_unfit : found.others_unfit) += unfit;
      found.first_good += slot == 0 && finding == good ? 1 : 0;
      found.others += slot == 0 ? 0 : 1;
    }
    ++found.nights;
  }
  return found;
}

}  // namespace torchwatch::tests
