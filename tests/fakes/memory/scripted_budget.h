#pragma once

#include <functional>

#include "daemon/builds/disk_budget.h"

namespace torchwatch::fakes {

/// A disk budget with enough space for all builds. It calls functions of a test before and after a
/// build.
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
