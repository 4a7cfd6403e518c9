#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "storage/base/clock.h"

namespace torchwatch {

/// The use of a slot of a fleet.
enum class SlotUse {
  in_use,
  quarantined,  ///< measures only check rounds, which no verdict uses
};

std::string_view to_string(SlotUse use);
std::optional<SlotUse> parse_slot_use(std::string_view text);

/// The state of one slot, with the figures of the last night that measured it well enough.
struct SlotState {
  std::string fleet;
  std::size_t slot = 0;  ///< its number in the fleet, from 0
  SlotUse use = SlotUse::in_use;
  Timestamp since{};            ///< when its use began, or when it was first reviewed
  std::string reason;           ///< why it is slow or noisy; empty if it is neither
  std::size_t benchmarks = 0;   ///< benchmarks by which it was compared
  std::optional<double> level;  ///< its times by those of the fleet; nothing: not comparable
  std::optional<double> noise;  ///< its noise by that of the fleet; nothing: not comparable
  friend bool operator==(SlotState const&, SlotState const&) = default;
};

/// Returns the subject of alarms about a slot: "a100: slot 2".
std::string slot_subject(std::string const& fleet, std::size_t slot);

}  // namespace torchwatch
