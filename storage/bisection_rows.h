#pragma once

/// What a bisection did and found, and whether that is reported, for tables that know bisections.

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <SQLiteCpp/SQLiteCpp.h>

#include "storage/domain/bisection.h"

namespace torchwatch::storage {

std::vector<BisectionStep> select_steps(SQLite::Database& database, BisectionId id);
StepTally select_tally(SQLite::Database& database, BisectionId id);

/// Takes the place of the step that may be at `ordinal`.
void write_step(SQLite::Database& database,
                BisectionId id,
                std::size_t ordinal,
                BisectionStep const& step);

/// Those that may be built, in order from the start to the end.
std::vector<Commit> select_commits(SQLite::Database& database, BisectionId id);

/// They take the place of all that may be there.
void write_commits(SQLite::Database& database, BisectionId id, std::vector<Commit> const& commits);

std::vector<Finding> select_findings(SQLite::Database& database, BisectionId id);

/// They take the place of all that may be there. Belongs into a transaction.
void write_findings(SQLite::Database& database,
                    BisectionId id,
                    std::vector<Finding> const& findings);

/// `differences`: the column of the bisection.
Packages select_packages(SQLite::Database& database,
                         BisectionId id,
                         std::string const& differences);

/// Notes that the report of its incident says what it found.
void mark_reported(SQLite::Database& database, BisectionId id);

/// They take the place of what may be there. Belongs into a transaction.
void write_packages(SQLite::Database& database,
                    BisectionId id,
                    std::optional<Packages> const& packages);

}  // namespace torchwatch::storage
