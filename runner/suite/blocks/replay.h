#pragma once

/// Repeats a part of a network exactly, for networks that keep no activations.

#include <functional>

#include <torch/torch.h>

namespace torchwatch::suite {

/// Returns the state of the device's default generator of random numbers.
torch::Tensor random_state_of(torch::Device device);

struct Rerun {
  torch::Tensor output;
  torch::Tensor slope;  ///< gradient of the input
};

/// Runs `function` again with the random numbers that were drawn from `state` on, and backward from
/// `slope`; its parameters' gradients add up as usual. The generator is left as it was.
Rerun rerun(torch::Tensor const& input,
            torch::Tensor const& slope,
            torch::Tensor const& state,
            std::function<torch::Tensor(torch::Tensor const&)> const& function);

}  // namespace torchwatch::suite
