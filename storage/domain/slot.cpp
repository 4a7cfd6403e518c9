#include "storage/domain/slot.h"

namespace torchwatch {

std::string_view to_string(SlotUse use) {
  switch (use) {
    case SlotUse::in_use:
      return "in_use";
    case SlotUse::quarantined:
      return "quarantined";
  }
  return "unknown";
}

std::optional<SlotUse> parse_slot_use(std::string_view text) {
  for (auto const use : {SlotUse::in_use, SlotUse::quarantined})
    if (text == to_string(use)) return use;
  return std::nullopt;
}

std::string slot_subject(std::string const& fleet, std::size_t slot) {
  return fleet + ": slot " + std::to_string(slot);
}

}  // namespace torchwatch
