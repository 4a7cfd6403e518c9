#include "runner/worker/dispatched.h"

#include <memory>
#include <mutex>

#include <ATen/core/operator_name.h>

namespace torchwatch::worker {
namespace {

/// The recorded names. Global, because LibTorch's callbacks are functions without state.
struct Names {
  std::mutex mutex;
  std::set<std::string> called;          // under mutex
  std::set<std::string> called_in_turn;  // under mutex
  int waits = 0;                         // under mutex
};

Names& names() {
  static Names instance;
  return instance;
}

/// The number of nested operators, nodes and engine steps that run in this thread.
int& depth() {
  thread_local int value = 0;
  return value;
}

bool is_wait(std::string const& name) {
  return name == "aten::_local_scalar_dense" || name == "aten::nonzero";
}

/// True for a backward node, but not for the engine's step around it,
/// "autograd::engine::evaluate_function: AddBackward0".
bool is_node(std::string const& name) {
  return name.find("Backward") != std::string::npos && name.find("::") == std::string::npos;
}

std::unique_ptr<at::ObserverContext> enter(at::RecordFunction const& function) {
  auto const operator_name = function.operator_name();
  std::string const name = operator_name ? c10::toString(*operator_name) : function.name();
  bool const is_called = operator_name ? depth() == 0 : is_node(name);
  ++depth();
  if (!is_called && !operator_name) return nullptr;
  std::lock_guard const lock(names().mutex);
  (is_called ? names().called : names().called_in_turn).insert(name);
  if (is_wait(name)) ++names().waits;
  return nullptr;
}

void leave(at::RecordFunction const&, at::ObserverContext*) {
  if (depth() > 0) --depth();
}

}  // namespace

Dispatched::Dispatched() {
  {
    std::lock_guard const lock(names().mutex);
    names().called.clear();
    names().called_in_turn.clear();
    names().waits = 0;
  }
  callback_ = at::addGlobalCallback(
      at::RecordFunctionCallback(enter, leave)
          .scopes({at::RecordScope::FUNCTION, at::RecordScope::BACKWARD_FUNCTION}));
}

Dispatched::~Dispatched() {
  at::removeCallback(callback_);
}

std::set<std::string> Dispatched::called() const {
  std::lock_guard const lock(names().mutex);
  return names().called;
}

std::set<std::string> Dispatched::called_in_turn() const {
  std::lock_guard const lock(names().mutex);
  return names().called_in_turn;
}

int Dispatched::waits() const {
  std::lock_guard const lock(names().mutex);
  return names().waits;
}

}  // namespace torchwatch::worker
