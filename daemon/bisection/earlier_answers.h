#pragma once

#include <vector>

#include "config/options.h"
#include "storage/domain/bisection.h"

namespace torchwatch::bisection {

/// Those of the request's series that none of the `earlier` bisections answers. An answer of a
/// bisection with the same start holds for another end, too, where it names a commit, or a range of
/// commits, that moved the series and that all lie between the start and that end. Where git cannot
/// read what lies between, no answer holds.
std::vector<Series> series_without_answer(BisectionRequest const& request,
                                          std::vector<Bisection> const& earlier,
                                          config::SourceOptions const& source);

}  // namespace torchwatch::bisection
