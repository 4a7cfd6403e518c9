#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/lab/material.h"

namespace torchwatch::years {

/// The history to make.
struct Request {
  std::size_t nights = 365;           ///< days that it spans; some have no nightly
  std::size_t series = 400;           ///< at least so many: models come whole
  std::chrono::sys_days last_night;   ///< the newest nightly
  std::uint64_t seed = 1;             ///< equal seeds give equal histories
  bool is_hostile = false;            ///< texts of strangers try to break out of a page
  std::vector<lab::Person> people{};  ///< authors of commits
};

/// The name that service::store_file gives to it.
inline constexpr auto database_name = "torchwatch.sqlite";

/// Longer histories are whole years: copies of this one.
inline constexpr std::size_t days_of_year = 365;

/// A shorter history has nothing to show.
inline constexpr std::size_t least_nights = 30;

}  // namespace torchwatch::years
