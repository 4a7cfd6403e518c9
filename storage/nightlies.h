#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "storage/domain/build.h"

namespace torchwatch::storage {

class Database;

/// The last nightly that was measured and judged.
struct LastJudged {
  std::optional<NightlyId> nightly;  ///< none was judged yet
  Timestamp at{};                    ///< when that was first seen
};

/// The table of nightlies and their states. Throws SQLite::Exception when the disk fails.
class Nightlies {
 public:
  explicit Nightlies(Database& database) : database_{database} {}

  /// Stores a nightly and returns true, or returns false when it is stored already. A nightly is
  /// known by date and commit, a published file by date, version and digest.
  bool announce(Nightly const& nightly);

  /// Returns all nightlies in their order: by date, then by id.
  std::vector<Nightly> all() const;
  /// Returns the nightlies of a date and later ones, in their order.
  std::vector<Nightly> since(std::string const& date) const;
  /// Returns the nightlies that were built from a commit, in their order.
  std::vector<Nightly> of(CommitSha const& commit) const;
  /// Returns the last nightly. When its file was replaced, a failed edition is skipped if another
  /// edition was judged.
  std::optional<Nightly> newest() const;
  /// Returns the last nightly that is bisected, done or failed. Editions as for newest().
  std::optional<Nightly> last_ended() const;
  /// Returns a nightly that is bisected or done, counted from the end: the last one for 1. Nothing
  /// if there are fewer.
  std::optional<Nightly> judged_from_end(int place) const;
  /// Returns the last nightly before `nightly`, by date, then by id, for which `is_wanted` is true.
  std::optional<Nightly> last_before(Nightly const& nightly,
                                     std::function<bool(Nightly const&)> const& is_wanted) const;
  /// Returns the newest nightlies before `nightly` that were announced before it, judged, and
  /// compared with a build of another commit: `most` at most, newest first. Nightlies that are
  /// announced while `nightly` is judged do not change the result.
  std::vector<ComparedNight> compared_before(Nightly const& nightly, int most) const;
  /// Returns the number of all nightlies that compared_before() can return.
  std::size_t count_compared_before(Nightly const& nightly) const;
  /// Returns the last nightly that was measured and judged, and when that was first seen: `now`, if
  /// no earlier call saw it. Stores that. After a clock was set back, the time is at most `now`.
  LastJudged note_last_judged(Timestamp now);
  /// Returns the last `count` nightlies, newest first.
  std::vector<Nightly> newest(int count) const;
  /// Returns the date of the first of the last `count` nightlies. Nothing when there are none.
  std::optional<std::string> first_date_of_last(int count) const;
  std::optional<Nightly> find(NightlyId id) const;
  /// Returns the last announced nightly of a date. Editions as for newest().
  std::optional<Nightly> of_date(std::string const& date) const;

  /// Returns the oldest nightly that is neither bisected, done nor failed. Skips the nightlies in
  /// `waiting`.
  std::optional<Nightly> next_unfinished(std::set<NightlyId> const& waiting = {}) const;

  /// Returns the nightlies whose incidents were investigated, and whose events are not stored yet,
  /// oldest first.
  std::vector<Nightly> investigated() const;

  /// Stores all fields of a known nightly except its date and time of announcement.
  void update(Nightly const& nightly);

 private:
  Database& database_;
};

}  // namespace torchwatch::storage
