#pragma once

/// Parts that actors and critics in soft actor-critic methods share: Haarnoja et al., 2018 (arXiv
/// 1812.05905).

#include <torch/torch.h>

namespace torchwatch::suite {

struct Policy {
  torch::Tensor actions;          ///< [batch, actions], in (-1, 1)
  torch::Tensor log_probability;  ///< [batch, 1]
};

/// Draws from a normal distribution squashed by tanh, differentiably. `output`: an actor's output,
/// [batch, 2 * actions]: the means, and the logarithms of the deviations before they are bounded.
Policy draw(torch::Tensor const& output);

/// Draws actions in this way, [batch, actions], without gradients.
torch::Tensor sample(torch::Tensor const& output);

/// The action in the middle of that distribution, [batch, actions].
torch::Tensor mean_action(torch::Tensor const& output);

/// Two estimates of the value of actions, each [batch, 1]; the lower one counts.
struct Worth {
  torch::Tensor first, second;

  torch::Tensor lower() const { return torch::min(first, second); }
};

/// Orthogonal weights, those of convolutions scaled for ReLU; biases 0.
void initialise_orthogonal(torch::nn::Module& network);

}  // namespace torchwatch::suite
