#pragma once

#include <cstddef>
#include <string>

#include "storage/domain/bisection.h"

namespace torchwatch::github {

/// The steps of a bisection, in Markdown: their number, and a table with one row for each, all
/// folded. Has at most `max_bytes`: if there are many steps, the first ones are omitted, and the
/// text says how many. Empty without steps, and when not even one fits. Pure.
std::string transcript(Bisection const& bisection,
                       std::string const& project,
                       std::size_t max_bytes);

}  // namespace torchwatch::github
