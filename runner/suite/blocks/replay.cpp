#include "runner/suite/blocks/replay.h"

#include <mutex>

namespace torchwatch::suite {

using torch::Tensor;

namespace {

torch::Generator generator_of(torch::Device device) {
  return at::globalContext().defaultGenerator(device);
}

Tensor state_of(torch::Generator generator) {
  std::lock_guard<std::mutex> const lock(generator.mutex());
  return generator.get_state();
}

/// While it lives, a device's random numbers are those that were drawn from `state` on.
class Replay {
 public:
  Replay(torch::Device device, Tensor const& state)
      : generator_(generator_of(device)),
        before_(state_of(generator_)) {
    set(state);
  }

  ~Replay() { set(before_); }

  Replay(Replay const&) = delete;
  Replay& operator=(Replay const&) = delete;

 private:
  void set(Tensor const& state) {
    std::lock_guard<std::mutex> const lock(generator_.mutex());
    generator_.set_state(state);
  }

  torch::Generator generator_;
  Tensor before_;
};

}  // namespace

Tensor random_state_of(torch::Device device) {
  return state_of(generator_of(device));
}

Rerun rerun(Tensor const& input,
            Tensor const& slope,
            Tensor const& state,
            std::function<Tensor(Tensor const&)> const& function) {
  torch::AutoGradMode const with_gradients(true);
  Replay const replay(input.device(), state);
  auto const leaf = input.detach().requires_grad_();
  auto const output = function(leaf);
  output.backward(slope);
  return {output.detach(), leaf.grad()};
}

}  // namespace torchwatch::suite
