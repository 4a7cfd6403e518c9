#pragma once

#include <functional>

#include "daemon/builds/disk_budget.h"

namespace torchwatch::fakes {

/// A disk budget that has space for everything, and calls a test when it is asked.
class ScriptedBudget final : public builds::DiskBudget {
 public:
  void make_space_for_another() override { before(); }

  void make_space() override { after(); }

  std::function<void()> before = [] {
  };
  std::function<void()> after = [] {
  };
};

}  // namespace torchwatch::fakes
