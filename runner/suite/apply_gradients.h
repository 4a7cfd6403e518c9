#pragma once

#include <ATen/autocast_mode.h>
#include <torch/torch.h>

namespace torchwatch::suite {

/// Takes a step of the optimizer and clears autocast's cache of cast weights. Autocast keeps the
/// cache for a whole step of a model, in which a model may train several networks in turn.
inline void apply_gradients(torch::optim::Optimizer& optimizer) {
  optimizer.step();
  at::autocast::clear_cache();
}

}  // namespace torchwatch::suite
