#pragma once

#include <optional>
#include <vector>

#include "storage/domain/bisection.h"

namespace SQLite {
class Database;
}

namespace torchwatch::storage {

/// Searches that were asked for, by an incident or by a person. Throws SQLite::Exception when the
/// disk fails.
class Bisections {
 public:
  explicit Bisections(SQLite::Database& database) : database_{database} {}

  /// Remembers a search as queued and returns it with its id.
  Bisection ask(BisectionRequest const& request, std::optional<IncidentId> incident, Timestamp now);

  /// Every search, newest first.
  std::vector<Bisection> all() const;
  std::optional<Bisection> find(BisectionId id) const;
  /// The searches of an incident, in the order asked.
  std::vector<Bisection> of_incident(IncidentId incident) const;
  /// The oldest search that nobody's incident waits for and that is neither done nor failed.
  std::optional<Bisection> next_asked() const;

  /// Appends one tried commit.
  void add_step(BisectionId id, BisectionStep const& step);

  /// Stores state, outcome, suspects, lead, proof, explained series and failure, all or nothing.
  void update(Bisection const& bisection);

 private:
  SQLite::Database& database_;
};

}  // namespace torchwatch::storage
