#include "daemon/bisection/cost_estimates.h"

#include <tuple>

#include "bisect/search/buildable.h"

namespace torchwatch::bisection {

namespace {

constexpr double an_hour = 3600;
constexpr double a_minute = 60;

}  // namespace

void CostEstimates::Mean::add(double another) {
  ++count;
  double const mean = seconds.value_or(another);
  seconds = mean + (another - mean) / count;
}

void CostEstimates::measured(double seconds) {
  reading_.add(seconds);
}

void CostEstimates::built(std::size_t position, double seconds, bool is_incremental) {
  tried_[position] = true;
  if (seconds > 0) (is_incremental ? incremental_ : full_).add(seconds);
}

/// Estimates one kind from the other until one was made.
double CostEstimates::build(bool is_warm) const {
  auto const& [likely, other] =
      is_warm ? std::tie(incremental_, full_) : std::tie(full_, incremental_);
  return likely.seconds.value_or(other.seconds.value_or(an_hour));
}

bisect::StepCosts CostEstimates::costs(bool is_warm) const {
  return {reading_.seconds.value_or(a_minute),
          [this, build = build(is_warm)](std::size_t position) {
            return tried_.contains(position) ? 0 : build;
          },
          [this](std::size_t position) {
            return bisect::chance_to_build(tried_, position);
          }};
}

}  // namespace torchwatch::bisection
