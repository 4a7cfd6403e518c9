#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace torchwatch::bisect {

/// One round of one night on one slot.
struct SlotRound {
  /// The number of its benchmark and builds. Only rounds of one unit are compared.
  std::size_t unit = 0;
  std::size_t slot = 0;               ///< the slot that measured it, from 0
  std::vector<double> costs;          ///< the level of each process as a cost (cost_of)
  std::vector<double> run_spreads{};  ///< the relative spread of each process's runs, if known
};

/// A figure of one slot next to the other slots of its fleet.
struct SlotFigure {
  std::size_t units = 0;  ///< units that this slot and another one measured
  double ratio = 1;       ///< this slot by the middle slot of the fleet
  double chance = 1;      ///< probability of as many high values if all slots are equal
  friend bool operator==(SlotFigure const&, SlotFigure const&) = default;
};

/// The figures of one slot.
struct SlotFigures {
  SlotFigure level;    ///< costs; without units unless three slots can be compared
  SlotFigure within;   ///< spread of the runs within a process
  SlotFigure between;  ///< difference between the processes of a round
  friend bool operator==(SlotFigures const&, SlotFigures const&) = default;
};

/// The conclusion about one slot on one night.
enum class SlotFinding {
  unknown,  ///< too few benchmarks, or neither clearly good nor clearly bad
  good,
  slow,
  noisy,
};

/// The fewest units that decide about a slot: so many signs agree by chance in 1 of 4,096 cases.
inline constexpr std::size_t fewest_slot_units = 12;

/// The fewest slots that can show which of them is slow.
inline constexpr std::size_t fewest_slots_of_level = 3;

/// Compares the slots of one fleet by the rounds of one night, which must be in the order of their
/// round numbers. Returns the figures of slots 0 to `slots` - 1.
///
/// A figure has an estimate and a test. The estimate is the slot's effect in a table of units and
/// slots, fitted by median polish (Tukey 1977), next to the middle slot. Almost half of the slots,
/// and almost half of a slot's units, may be wrong without moving it. The test is the sign test: in
/// how many units was the slot above most others? Each slot of a unit gives equally many rounds to
/// it, so that equal slots are exchangeable and each sign is a fair coin.
///
/// Two slots cannot show which of them is slow, so the level needs three. Noise only adds, so the
/// noisier of two slots is at fault. Values that are not finite or not above zero are skipped.
/// Pure.
std::vector<SlotFigures> compare_slots(std::span<SlotRound const> rounds, std::size_t slots);

/// Returns `slow` for a slot that is 5% slower, and `noisy` for one that is twice as noisy, if the
/// sign test supports it at 1 in 4,000. The three tests of a slot together are wrong about equal
/// slots in less than 1 of 1,000 nights. Returns `good` for a slot within 3% and 1.5 times, or
/// beyond that without support by the sign test at 1 in 20. Pure.
SlotFinding finding_of(SlotFigures const& figures);

}  // namespace torchwatch::bisect
