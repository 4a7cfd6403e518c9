#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "storage/domain/build.h"

namespace torchwatch::builds {

/// What a build is made of and packed with, beside its commit, a line each: what `recipe` holds,
/// which made it, a Recipe{} where that is not known; what its build.json says; the files of its
/// lib directory; its companions. Where artifacts lie is not told: reports are public. Reads the
/// disk.
std::vector<std::string> packaging_of(Build const& build, Recipe const& recipe);

/// The lines that only one has: "- gcc 12" where it is `before`, then "+ gcc 13" where it is
/// `after`. Pure.
std::vector<std::string> differences(std::vector<std::string> before,
                                     std::vector<std::string> after);

/// The same of two texts of a line each.
std::vector<std::string> differences(std::string_view before, std::string_view after);

}  // namespace torchwatch::builds
