#include "daemon/search_costs.h"

#include "bisect/buildable.h"

namespace torchwatch {

namespace {

/// Mean of what was seen; the first one replaces what was only assumed.
void take_into(double& mean, int& count, double seconds) {
  ++count;
  mean += (seconds - mean) / count;
}

}  // namespace

void SearchCosts::measured(double seconds) {
  take_into(reading_, readings_, seconds);
}

void SearchCosts::built(std::size_t position, double seconds) {
  tried_[position] = true;
  if (seconds > 0) take_into(build_, builds_, seconds);
}

bisect::Costs SearchCosts::costs() const {
  return {reading_,
          [this](std::size_t position) {
            auto const known = tried_.find(position);
            return known != tried_.end() && known->second ? 0 : build_;
          },
          [this](std::size_t position) {
            return bisect::chance_to_build(tried_, position);
          }};
}

}  // namespace torchwatch
