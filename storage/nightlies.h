#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "storage/domain/build.h"

namespace SQLite {
class Database;
}

namespace torchwatch::storage {

/// The nightlies that were announced and how far each has come. Throws SQLite::Exception when the
/// disk fails.
class Nightlies {
 public:
  explicit Nightlies(SQLite::Database& database) : database_{database} {}

  /// Remembers a nightly. One that has the same date and commit as a known one, or, where it is
  /// published as a file, the same date, version and digest, changes nothing. Returns true when it
  /// was new.
  bool announce(Nightly const& nightly);

  /// Every nightly, in the order of nightlies: by date, then by id.
  std::vector<Nightly> all() const;
  /// The last of them. A published file that was replaced has several editions: one that failed
  /// gives way to one that was judged.
  std::optional<Nightly> newest() const;
  /// The last that has ended: bisected, done or failed. Editions as for newest().
  std::optional<Nightly> last_ended() const;
  /// The last `count`, newest first.
  std::vector<Nightly> newest(int count) const;
  std::optional<Nightly> find(NightlyId id) const;
  /// The last that was announced of those of a date. Editions as for newest().
  std::optional<Nightly> of_date(std::string const& date) const;

  /// The oldest nightly that was not judged to the end: neither bisected, done nor failed. Those
  /// that are `waiting` are passed over.
  std::optional<Nightly> next_unfinished(std::set<NightlyId> const& waiting = {}) const;

  /// Nightlies whose incident is known but not published yet, oldest first.
  std::vector<Nightly> unpublished() const;

  /// Stores all but date and time of announcement of a known nightly.
  void update(Nightly const& nightly);

 private:
  SQLite::Database& database_;
};

}  // namespace torchwatch::storage
