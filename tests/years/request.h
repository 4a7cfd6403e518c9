#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace torchwatch::years {

/// What history to write.
struct Request {
  std::size_t nights = 365;           ///< days that it spans; some have no nightly
  std::size_t series = 400;           ///< at least so many: models come whole
  std::chrono::sys_days last_night;   ///< the newest
  std::uint64_t seed = 1;             ///< the same gives the same history
  bool is_hostile = false;            ///< texts of others try to break out of a page
  std::vector<std::string> people{};  ///< "Name <email>": who writes commits
};

/// As service::store_file names it.
inline constexpr auto database_name = "torchwatch.sqlite";

/// What is kept of processes: config::StoreOptions.
inline constexpr std::size_t raw_nights = 90;

/// So that there is something to tell.
inline constexpr std::size_t least_nights = 30;

}  // namespace torchwatch::years
