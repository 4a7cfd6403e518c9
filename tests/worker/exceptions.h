#pragma once

/// What does not hold for every model, and why that is right.

#include <initializer_list>
#include <string_view>

namespace torchwatch::suite {

struct Untrained {
  std::string_view model;
  std::string_view parameter;  ///< a regular expression for whole names
  std::string_view reason;
};

/// Parameters that get no gradient, or none but zeros.
inline constexpr std::initializer_list<Untrained> untrained_parameters = {};

struct Drawing {
  std::string_view model;
  std::string_view reason;
};

/// Models that draw random numbers in evaluation too, so that no two outputs are alike.
inline constexpr std::initializer_list<Drawing> drawing_models = {};

}  // namespace torchwatch::suite
