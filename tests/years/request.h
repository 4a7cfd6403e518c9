#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/lab/material.h"

namespace torchwatch::years {

/// The options of a history.
struct Request {
  std::size_t nights = 365;           ///< days of the history; some have no nightly
  std::size_t series = 400;           ///< least number; models are added as a whole
  std::chrono::sys_days last_night;   ///< the newest nightly
  std::uint64_t seed = 1;             ///< equal seeds give equal histories
  bool is_hostile = false;            ///< adds texts that try to break out of a page
  std::vector<lab::Person> people{};  ///< authors of commits
};

/// The name of the database file, as in service::store_file.
inline constexpr auto database_name = "torchwatch.sqlite";

/// Days of the year that is generated. Longer histories add copies of it.
inline constexpr std::size_t days_of_year = 365;

/// The shortest history that shows anything.
inline constexpr std::size_t least_nights = 30;

}  // namespace torchwatch::years
