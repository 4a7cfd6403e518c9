#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "storage/base/clock.h"
#include "storage/base/result.h"

/// Backups: copies of the database in one file, which end with their SHA-256.
namespace torchwatch::storage {

/// The number of rows of a table.
struct TableCount {
  std::string table;
  std::int64_t rows = 0;
};

/// A verified copy of a database.
struct Copy {
  std::filesystem::path file;
  std::int64_t bytes = 0;
  std::vector<TableCount> counts{};  ///< the main tables
};

/// The handling of a file that already has the name of the copy.
enum class IfExists { refuse, replace };

/// Copies `database` to `file` as of one moment, while its writer works, which does not wait. The
/// copy is checked, and gets its name when it is complete and on the disk. `file` is the old one or
/// the new one, however the process ends. Errors: `not_found` without a database; `refused` when
/// `file` exists and is not to be replaced, when it belongs to the database, and when the database
/// is not one of torchwatch or of a newer version; `corrupt` when the database is damaged;
/// `unavailable` when the disk fails.
Result<Copy> back_up(std::filesystem::path const& database,
                     std::filesystem::path const& file,
                     IfExists if_exists);

/// A database that was restored.
struct Restored {
  Copy database;
  std::filesystem::path replaced{};  ///< the new name of the database that was there; empty: none
};

/// Makes the backup `file` the database at `database`, and makes its directory if it is missing.
/// Also takes a copy that another program made, without a SHA-256. The database is the old one or
/// the new one, however the process ends. A replaced database gets another name. Marks unfinished
/// messages to GitHub as sent at `now`, so the sender looks for them first: they may have arrived
/// after the backup. Errors: `not_found` without a backup; `unavailable` when the database is in
/// use, or the disk fails; `refused` when there is a database that is not to be replaced, and when
/// the backup is not one of torchwatch or of a newer version; `corrupt` when it is damaged.
Result<Restored> restore(std::filesystem::path const& file,
                         std::filesystem::path const& database,
                         IfExists if_exists,
                         Timestamp now);

}  // namespace torchwatch::storage
