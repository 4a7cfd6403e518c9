#pragma once

#include <compare>
#include <cstdint>

namespace torchwatch {

/// The id of a row. Each kind of row has its own type of id.
template <class Tag>
struct Id {
  std::int64_t value = 0;
  friend auto operator<=>(Id, Id) = default;
};

using NightlyId = Id<struct NightlyTag>;
using IncidentId = Id<struct IncidentTag>;
using BisectionId = Id<struct BisectionTag>;
using AlarmId = Id<struct AlarmTag>;
using RulingId = Id<struct RulingTag>;
using RecipeId = Id<struct RecipeTag>;

}  // namespace torchwatch
