#pragma once

#include <map>
#include <string>
#include <vector>

namespace torchwatch::config {

/// Where the parts of a JSON text stand. Keys are paths as people write them: "fleets[0].name"; ""
/// is the whole.
struct Locations {
  std::map<std::string, int> line_of;   ///< counted from one; of a member, its key's line
  std::vector<std::string> duplicates;  ///< paths of keys that came again in the same object
};

/// Expects a text that parses (comments allowed).
Locations locate(std::string const& text);

}  // namespace torchwatch::config
