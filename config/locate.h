#pragma once

#include <map>
#include <string>
#include <vector>

#include "storage/base/result.h"

namespace torchwatch::config {

/// The lines of the parts of a JSON text. Keys are paths, such as "fleets[0].name"; "" is the whole
/// text.
struct Locations {
  std::map<std::string, int> line_of;   ///< from 1; for a member, the line of its key
  std::vector<std::string> duplicates;  ///< paths of keys that are repeated in their object
};

/// Returns the path of `key` in the object at `object`: "http.port", or `http["a b"]` for a key
/// with unusual characters.
std::string member_path(std::string const& object, std::string const& key);

/// Finds the lines of a JSON text; comments are allowed. Fails with "FILE:LINE:COLUMN: ..." when
/// the text is not JSON or nested too deep.
Result<Locations> locate(std::string const& file, std::string const& text);

}  // namespace torchwatch::config
