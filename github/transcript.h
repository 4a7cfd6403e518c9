#pragma once

#include <cstddef>
#include <string>

#include "storage/domain/bisection.h"

namespace torchwatch::github {

/// How a bisection went, in Markdown: what it took, and, folded, a table with a row a step. Has at
/// most `max_bytes`: where the steps are many the first ones are left out, and the text says how
/// many. Empty when there was no step or not even one fits. Pure.
std::string transcript(Bisection const& bisection,
                       std::string const& project,
                       std::size_t max_bytes);

}  // namespace torchwatch::github
