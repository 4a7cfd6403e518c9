#pragma once

#include "config/options.h"

namespace torchwatch::bisect {

/// The default options of tests.
inline config::DecideOptions const usual_options;

constexpr double mib = 1 << 20;

}  // namespace torchwatch::bisect
