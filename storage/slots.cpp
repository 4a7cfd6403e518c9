#include "storage/slots.h"

#include <cstdint>

#include "storage/database.h"
#include "storage/rows.h"

namespace torchwatch::storage {
namespace {

constexpr auto select_slots =
    "SELECT fleet, slot, use, since, reason, benchmarks, level, noise FROM slot_state ";

std::optional<double> read_ratio(SQLite::Column const& column) {
  if (column.isNull()) return std::nullopt;
  return column.getDouble();
}

std::size_t read_number(SQLite::Column const& column) {
  return static_cast<std::size_t>(column.getInt64());
}

SlotState read_slot(SQLite::Statement& row) {
  SlotState state;
  state.fleet = row.getColumn(0).getString();
  state.slot = read_number(row.getColumn(1));
  state.use = read_word(row.getColumn(2), parse_slot_use);
  state.since = read_time(row.getColumn(3));
  state.reason = row.getColumn(4).getString();
  state.benchmarks = read_number(row.getColumn(5));
  state.level = read_ratio(row.getColumn(6));
  state.noise = read_ratio(row.getColumn(7));
  return state;
}

}  // namespace

void Slots::set(SlotState const& state) {
  Statement insert{database_,
                   "INSERT OR REPLACE INTO slot_state "
                   "(fleet, slot, use, since, reason, benchmarks, level, noise) "
                   "VALUES (?, ?, ?, ?, ?, ?, ?, ?)"};
  bind_all(insert,
           state.fleet,
           static_cast<std::int64_t>(state.slot),
           std::string{to_string(state.use)},
           seconds_of(state.since),
           state.reason,
           static_cast<std::int64_t>(state.benchmarks),
           state.level,
           state.noise);
  insert.exec();
}

void Slots::remove(std::string const& fleet, std::size_t slot) {
  Statement remove{database_, "DELETE FROM slot_state WHERE fleet = ? AND slot = ?"};
  bind_all(remove, fleet, static_cast<std::int64_t>(slot));
  remove.exec();
}

std::vector<SlotState> Slots::all() const {
  Statement query{database_, std::string{select_slots} + "ORDER BY fleet, slot"};
  return read_all(query, read_slot);
}

std::optional<SlotState> Slots::find(std::string const& fleet, std::size_t slot) const {
  Statement query{database_, std::string{select_slots} + "WHERE fleet = ? AND slot = ?"};
  bind_all(query, fleet, static_cast<std::int64_t>(slot));
  return read_one(query, read_slot);
}

std::set<std::size_t> Slots::quarantined(std::string const& fleet) const {
  Statement query{database_, "SELECT slot FROM slot_state WHERE fleet = ? AND use = 'quarantined'"};
  bind_all(query, fleet);
  auto const numbers =
      read_all(query, [](SQLite::Statement& row) { return read_number(row.getColumn(0)); });
  return {numbers.begin(), numbers.end()};
}

}  // namespace torchwatch::storage
