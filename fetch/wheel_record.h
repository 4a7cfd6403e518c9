#pragma once

#include <filesystem>
#include <string>

#include "storage/base/result.h"

namespace torchwatch::fetch {

/// Compares an unpacked wheel with its NAME-VERSION.dist-info/RECORD (PEP 427): every file that is
/// listed there with a digest and a size has these. RECORD and its signatures need none.
///
/// Returns a warning on one line, empty when there is none: wheels are published whose METADATA was
/// edited, or a folder added, after RECORD was written, and pip installs them. So a difference in
/// *.dist-info and a file that is not listed are accepted; the warning names the first one and how
/// many more there are.
///
/// Fails with corrupt, in one line that names the first other file that differs, is not there, or
/// is listed twice and not alike; also when there is no RECORD, or more than one. Reads every file;
/// blocks.
Result<std::string> check_record(std::filesystem::path const& wheel);

}  // namespace torchwatch::fetch
