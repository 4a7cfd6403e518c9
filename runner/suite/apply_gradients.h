#pragma once

#include <ATen/autocast_mode.h>
#include <torch/torch.h>

namespace torchwatch::suite {

/// A step of the optimizer, after which autocast casts its parameters anew. It remembers casts of
/// weights as long as it lasts, which is a whole step of a model here, and a model may train one
/// network after another in it.
inline void apply_gradients(torch::optim::Optimizer& optimizer) {
  optimizer.step();
  at::autocast::clear_cache();
}

}  // namespace torchwatch::suite
