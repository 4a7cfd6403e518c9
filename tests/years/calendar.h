#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "storage/domain/build.h"
#include "tests/years/request.h"

namespace torchwatch::years {

/// A nightly to come, by its place among nightlies, counted from 0. Its id is one more.
struct Night {
  std::string date;
  Timestamp announced_at{};
  NightlyState state = NightlyState::done;
  std::string failure;
  /// Its failure is that no process gave a result; else it could not be prepared.
  bool was_swept = false;
  std::optional<std::size_t> baseline;  ///< place of the last one before it that was judged
};

/// The nightlies of all days, oldest first. Some days have none, four in a row once, and some
/// nightlies fail; the newest one is being swept. Pure.
std::vector<Night> nights_of(Request const& request);

/// Those whose processes are kept though they are not among the incidents': as retention has it.
std::vector<bool> raw_nights_of(std::vector<Night> const& nights);

std::string date_of(std::chrono::sys_days day);

}  // namespace torchwatch::years
