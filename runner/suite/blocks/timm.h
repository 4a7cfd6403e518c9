#pragma once

/// TorchBench's way to run the models of timm, the PyTorch image models.

#include <memory>

#include "runner/suite/classification.h"

namespace torchwatch::suite {

struct TimmOptimizer {
  double rate = 1e-4;
  double decay = 1e-4;
  bool nesterov = true;
};

/// Stochastic gradient descent with momentum; biases and the parameters of normalisations do not
/// decay.
std::unique_ptr<torch::optim::Optimizer> make_timm_optimizer(torch::nn::Module const& network,
                                                             TimmOptimizer const& settings = {});

/// Images of `side` x `side` pixels of 1000 classes, learned with that optimizer.
Classification timm_classification(std::int64_t side);

}  // namespace torchwatch::suite
