#pragma once

/// Functions that read and write the steps, commits, findings and packages of bisections. Several
/// tables use them.

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "storage/database.h"
#include "storage/domain/bisection.h"

namespace torchwatch::storage {

std::vector<BisectionStep> select_steps(Database& database, BisectionId id);
StepTally select_tally(Database& database, BisectionId id);

/// Inserts the step at `ordinal`, or replaces the step there.
void write_step(Database& database, BisectionId id, std::size_t ordinal, BisectionStep const& step);

/// Returns the commits that the bisection may build, in order from the start to the end.
std::vector<Commit> select_commits(Database& database, BisectionId id);

/// Replaces the commits of the bisection.
void write_commits(Database& database, BisectionId id, std::vector<Commit> const& commits);

std::vector<Finding> select_findings(Database& database, BisectionId id);

/// Replaces the findings of the bisection. Call it within a transaction.
void write_findings(Database& database, BisectionId id, std::vector<Finding> const& findings);

/// Returns the packages of the bisection. `differences`: its column `package_differences`.
Packages select_packages(Database& database, BisectionId id, std::string const& differences);

/// Replaces the packages of the bisection. Call it within a transaction.
void write_packages(Database& database, BisectionId id, std::optional<Packages> const& packages);

}  // namespace torchwatch::storage
