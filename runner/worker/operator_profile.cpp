#include "runner/worker/operator_profile.h"

#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include <ATen/core/operator_name.h>
#include <ATen/record_function.h>

#include "runner/worker/elapsed.h"

namespace torchwatch::worker {
namespace {

using Clock = std::chrono::steady_clock;

struct Cost {
  double calls = 0;
  double ms = 0;
  double bytes = 0;
};

/// A running operator, and the cost so far of the operators that it called.
struct Frame {
  Clock::time_point begin;
  std::int64_t allocated;
  Cost callees;
};

/// The state of the profile. Global, because LibTorch's callbacks are functions without state.
struct Profile {
  AllocationCount const* memory = nullptr;
  std::mutex mutex;
  std::map<std::string, Cost> costs;  // under mutex
};

Profile& profile() {
  static Profile instance;
  return instance;
}

std::vector<Frame>& running() {
  thread_local std::vector<Frame> frames;
  return frames;
}

/// Returns "aten::add.Tensor", or the name of an autograd node, which has no overload.
std::string name_of(at::RecordFunction const& function) {
  auto const name = function.operator_name();
  return name ? c10::toString(*name) : function.name();
}

std::unique_ptr<at::ObserverContext> enter(at::RecordFunction const&) {
  auto const allocated = profile().memory->allocated_bytes();
  running().push_back({Clock::now(), allocated, {}});
  return nullptr;
}

void leave(at::RecordFunction const& function, at::ObserverContext*) {
  auto& frames = running();
  if (frames.empty()) return;
  auto const frame = frames.back();
  frames.pop_back();
  double const ms = milliseconds_since(frame.begin);
  auto const bytes = static_cast<double>(profile().memory->allocated_bytes() - frame.allocated);
  if (!frames.empty()) {
    frames.back().callees.ms += ms;
    frames.back().callees.bytes += bytes;
  }
  std::lock_guard const lock(profile().mutex);
  auto& cost = profile().costs[name_of(function)];
  cost.calls += 1;
  cost.ms += ms - frame.callees.ms;
  cost.bytes += bytes - frame.callees.bytes;
}

}  // namespace

OperatorProfile::OperatorProfile(AllocationCount const& memory) {
  profile().memory = &memory;
  profile().costs.clear();
  callback_ = at::addGlobalCallback(
      at::RecordFunctionCallback(enter, leave)
          .scopes({at::RecordScope::FUNCTION, at::RecordScope::BACKWARD_FUNCTION}));
}

OperatorProfile::~OperatorProfile() {
  at::removeCallback(callback_);
}

std::vector<protocol::OperatorCost> OperatorProfile::costs(int iterations) const {
  std::vector<protocol::OperatorCost> list;
  std::lock_guard const lock(profile().mutex);
  for (auto const& [name, cost] : profile().costs)
    list.push_back({name, cost.calls / iterations, cost.ms / iterations, cost.bytes / iterations});
  return list;
}

}  // namespace torchwatch::worker
