#pragma once

#include <map>
#include <string>
#include <vector>

#include "storage/base/result.h"

namespace torchwatch::config {

/// Where the parts of a JSON text stand. Keys are paths as people write them: "fleets[0].name"; ""
/// is the whole.
struct Locations {
  std::map<std::string, int> line_of;   ///< counted from one; of a member, its key's line
  std::vector<std::string> duplicates;  ///< paths of keys that came again in the same object
};

/// The path of `key` in the object at `object`: "http.port", or `http["a b"]` for an odd key.
std::string member_path(std::string const& object, std::string const& key);

/// Fails with "FILE:LINE:COLUMN: ..." when the text is not JSON (comments allowed) or nested
/// absurdly deep.
Result<Locations> locate(std::string const& file, std::string const& text);

}  // namespace torchwatch::config
