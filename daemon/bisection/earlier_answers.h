#pragma once

#include <vector>

#include "config/options.h"
#include "storage/domain/bisection.h"

namespace torchwatch::bisection {

/// Returns those of the request's series that no `earlier` bisection answers. An answer names
/// commits that moved the series. It also holds for another end if the start is the same and the
/// commits all lie between start and end. Where git cannot read the commits in between, no answer
/// holds.
std::vector<Series> series_without_answer(BisectionRequest const& request,
                                          std::vector<Bisection> const& earlier,
                                          config::SourceOptions const& source);

}  // namespace torchwatch::bisection
