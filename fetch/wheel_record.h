#pragma once

#include <filesystem>

#include "storage/base/result.h"

namespace torchwatch::fetch {

/// Whether an unpacked wheel is what its NAME-VERSION.dist-info/RECORD says (PEP 427): every file
/// is listed, and those that have a digest and a size there have these; RECORD and its signatures
/// need none. Fails with corrupt, in one line that names the first file that differs or is listed
/// twice and not alike; also when there is no RECORD, or more than one. Reads every file; blocks.
Result<> check_record(std::filesystem::path const& wheel);

}  // namespace torchwatch::fetch
