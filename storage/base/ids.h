#pragma once

#include <compare>
#include <cstdint>

namespace torchwatch {

/// A row's identity. Ids of different things do not mix.
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
