#pragma once

/// Parameters that get no gradient, or none but zeros, and why that is right.

#include <string_view>

namespace torchwatch::suite {

struct Untrained {
  std::string_view model;
  std::string_view parameter;  ///< a regular expression for whole names
  std::string_view reason;
};

inline constexpr Untrained untrained_parameters[] = {
    {"", "", "(models that leave parameters untrained come here)"},
};

}  // namespace torchwatch::suite
