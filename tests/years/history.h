#pragma once

#include <utility>
#include <vector>

#include "tests/years/calendar.h"
#include "tests/years/hostile.h"
#include "tests/years/hosts.h"
#include "tests/years/plan.h"
#include "tests/years/trunk.h"

namespace torchwatch::years {

/// Everything that is known before a night is written. Neither copied nor moved: its parts refer to
/// each other.
struct History {
  History(Request of, std::vector<Night> all, Suite suite)
      : request{std::move(of)},
        nights{std::move(all)},
        are_raw{raw_nights_of(nights)},
        plan{plan_of(request, std::move(suite), nights)},
        trunk{request, nights},
        hosts{request.seed, nights.size()},
        texts{request.is_hostile} {}

  History(History const&) = delete;
  History& operator=(History const&) = delete;
  ~History() = default;

  Request const request;
  std::vector<Night> const nights;
  std::vector<bool> const are_raw;
  Plan const plan;
  Trunk const trunk;
  Hosts const hosts;
  Texts const texts;
};

}  // namespace torchwatch::years
