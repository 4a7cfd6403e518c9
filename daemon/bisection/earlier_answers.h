#pragma once

#include <vector>

#include "config/options.h"
#include "storage/domain/bisection.h"

namespace torchwatch::bisection {

/// Returns those of the request's series that no `earlier` bisection answers. An answer of a
/// bisection with the same start also holds for another end if it names commits that moved the
/// series, and all lie between the start and that end. Where git cannot read the commits in
/// between, no answer holds.
std::vector<Series> series_without_answer(BisectionRequest const& request,
                                          std::vector<Bisection> const& earlier,
                                          config::SourceOptions const& source);

}  // namespace torchwatch::bisection
