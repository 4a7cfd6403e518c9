#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "storage/domain/slot.h"

namespace torchwatch::storage {

class Database;

/// The states of slots that were reviewed. Throws SQLite::Exception when the disk fails.
class Slots {
 public:
  explicit Slots(Database& database) : database_{database} {}

  /// Stores the state of a slot, in place of an earlier one.
  void set(SlotState const& state);

  /// Removes the state of a slot that is no longer configured.
  void remove(std::string const& fleet, std::size_t slot);

  /// Returns all states, ordered by fleet and slot.
  std::vector<SlotState> all() const;

  std::optional<SlotState> find(std::string const& fleet, std::size_t slot) const;

  /// Returns the numbers of the quarantined slots of a fleet.
  std::set<std::size_t> quarantined(std::string const& fleet) const;

 private:
  Database& database_;
};

}  // namespace torchwatch::storage
