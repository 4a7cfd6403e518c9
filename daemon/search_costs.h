#pragma once

#include <map>
#include <optional>

#include "bisect/planning.h"

namespace torchwatch {

/// What a search pays for what it does, learned while it goes on.
class SearchCosts {
 public:
  /// `usual_build`: seconds of the builds made before, if any were.
  explicit SearchCosts(std::optional<double> usual_build) : build_{usual_build.value_or(an_hour)} {}

  /// A process of a build that is there took `seconds`.
  void measured(double seconds);

  /// The build at `position` is there; making it took `seconds`, 0 if it was there before.
  void built(std::size_t position, double seconds);

  /// The build at `position` could not be made.
  void failed(std::size_t position) { tried_[position] = false; }

  /// Refers to this object.
  bisect::Costs costs() const;

 private:
  static constexpr double an_hour = 3600;
  static constexpr double a_minute = 60;

  double build_;
  int builds_ = 0;
  double reading_ = a_minute;
  int readings_ = 0;
  std::map<std::size_t, bool> tried_;  // whether it is there
};

}  // namespace torchwatch
