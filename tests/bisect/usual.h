#pragma once

#include "config/options.h"

namespace torchwatch::bisect {

/// What decides where a test does not say otherwise.
inline config::DecideOptions const usual_options;

constexpr double mib = 1 << 20;

}  // namespace torchwatch::bisect
