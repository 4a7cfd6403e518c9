#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "storage/domain/build.h"

namespace torchwatch::builds {

/// Returns the parts of a build, except its commit, one per line. These are the contents of
/// `recipe` (a Recipe{} when it is unknown), the fields of build.json, the files of the lib
/// directory, and the companions. Does not contain the location of artifacts, since reports are
/// public. Reads the disk.
std::vector<std::string> packaging_of(Build const& build, Recipe const& recipe);

/// Returns the lines that are in only one of the two: "- gcc 12" from `before`, then "+ gcc 13"
/// from `after`. Pure.
std::vector<std::string> differences(std::vector<std::string> before,
                                     std::vector<std::string> after);

/// Returns the lines that are in only one of two texts, in the same form. Pure.
std::vector<std::string> differences(std::string_view before, std::string_view after);

}  // namespace torchwatch::builds
