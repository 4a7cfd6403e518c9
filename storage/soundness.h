#pragma once

#include <filesystem>
#include <stop_token>

#include "storage/base/result.h"

/// Checks of a database before the first write: is it a database of torchwatch, and undamaged?
namespace torchwatch::storage {

/// The `PRAGMA application_id` of torchwatch's databases, set by storage/schema.sql: "TWDB".
inline constexpr int application_id = 0x54574442;

/// True when the file begins like a SQLite database.
bool begins_like_a_database(std::filesystem::path const& file);

/// Checks `file` without changing it. Succeeds when it does not exist, is empty, or is an undamaged
/// database of torchwatch that is not newer than this program and matches its seal, if it has one.
/// Errors: `refused` when it belongs to another program, to a newer torchwatch or to a development
/// version before 1.0.0; `corrupt` when it is damaged or was changed. Messages say what to do.
Result<> inspect(std::filesystem::path const& file);

/// Checks all of `file`, also its indexes (SQLite's integrity_check), without changing it. Takes
/// seconds per gigabyte. A writer may work at the same time and does not wait. Ends soon after
/// `stop` is requested. Errors: `corrupt` with the first problem and what to do; `cancelled`;
/// `unavailable` when the file could not be read to its end.
Result<> inspect_all(std::filesystem::path const& file, std::stop_token const& stop);

/// Checks all of `copy`, a complete copy of a database that no process has open, with its indexes
/// and references. `original`: the file that messages name. Errors: `refused` as for inspect(), and
/// when it has no tables; `corrupt` when it is damaged; `unavailable` when it could not be read.
Result<> inspect_copy(std::filesystem::path const& copy, std::filesystem::path const& original);

/// Writes the SHA-256 of a database that was just closed next to it. Opening it then detects
/// changes in between, because SQLite has no checksums. Failures to write are ignored.
void seal(std::filesystem::path const& file);

/// Deletes the seal permanently. Call it before the first write. Fails with unavailable.
Result<> break_seal(std::filesystem::path const& file);

}  // namespace torchwatch::storage
