#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace torchwatch::bench {

/// A series over years, night by night, with what really happened to it.
struct History {
  std::vector<double> values;        ///< logarithms; nights that were missed are left out
  std::vector<std::size_t> changes;  ///< the first value of each new level
};

/// A way in which a series may live.
struct Life {
  std::string name;
  std::function<History(std::uint64_t seed)> make;
};

/// Noise is 2% a night. With changes: single steps of 3, 7 and 20%, stairs, a change and its
/// revert, strays, missed nights, heavy tails, a host that wanders. Without: `flat_lives`.
std::vector<Life> changing_lives();
std::vector<Life> flat_lives(std::size_t nights);

}  // namespace torchwatch::bench
