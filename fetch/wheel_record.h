#pragma once

#include <filesystem>
#include <string>

#include "storage/base/result.h"

namespace torchwatch::fetch {

/// Compares an unpacked wheel with its NAME-VERSION.dist-info/RECORD (PEP 427): each listed file
/// must have its digest and size. RECORD and its signatures need none.
///
/// Returns a warning of one line, or an empty text. Some published wheels have a METADATA that was
/// edited, or a folder that was added, after RECORD was written; pip installs them. So differences
/// in *.dist-info and files that are not listed are accepted. The warning names the first one and
/// the number of others.
///
/// Fails with corrupt, naming the first other file that differs, is missing, or is listed twice
/// with different entries. Also fails with corrupt when there is not exactly one RECORD. Reads all
/// files; blocks.
Result<std::string> check_record(std::filesystem::path const& wheel);

}  // namespace torchwatch::fetch
