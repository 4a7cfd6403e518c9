#pragma once

#include <filesystem>
#include <stop_token>

#include "storage/base/result.h"

/// Whether a database is ours and whole, found out before anything is written to it.
namespace torchwatch::storage {

/// `PRAGMA application_id` of every database of torchwatch, as storage/schema.sql sets it: "TWDB".
inline constexpr int application_id = 0x54574442;

/// Looks at `file` and changes nothing in it. Good: there is none, or it is empty, or it is sound,
/// ours, no newer than this program, and, where it is sealed, as it was when it was closed. Errors:
/// `refused` when it belongs to another program, to a newer torchwatch or to a development version
/// of before 0.1.0, `corrupt` when it is
/// damaged or has been changed; messages say what to do.
Result<> inspect(std::filesystem::path const& file);

/// Looks at all of `file`, its indexes included (SQLite's integrity_check), which takes seconds a
/// gigabyte, and changes nothing. May be called beside a writer, which it does not hold up, and
/// ends soon after `stop` is requested. Errors: `corrupt` names the first thing that is wrong, and
/// what to do; `cancelled`; `unavailable`, it could not be read to its end.
Result<> inspect_all(std::filesystem::path const& file, std::stop_token const& stop);

/// Notes beside a database that was just closed what it holds (SHA-256), so that the next one who
/// opens it sees what happened to it meanwhile: SQLite itself has no check sums. What cannot be
/// noted is not.
void seal(std::filesystem::path const& file);

/// Takes the seal away, for good, which must come before the first write. Fails with unavailable.
Result<> break_seal(std::filesystem::path const& file);

}  // namespace torchwatch::storage
