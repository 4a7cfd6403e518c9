#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "runner/suite/workload.h"

namespace torchwatch::suite {

/// The parts of most benchmarks. The functions hold the network and its batch. All tensors must be
/// placed as the setup requires.
struct Supervised {
  std::shared_ptr<torch::nn::Module> network;
  std::vector<torch::Tensor> inputs;  ///< the inputs of `forward`, for Workload::inputs
  std::function<std::vector<torch::Tensor>()> forward;  ///< at least one output
  std::function<torch::Tensor(std::vector<torch::Tensor> const& outputs)> loss;  ///< a scalar
  std::unique_ptr<torch::optim::Optimizer> optimizer;
  double gradient_norm = 0;  ///< largest norm of gradients, which are scaled down; 0: no limit
};

/// Makes a workload from `parts`. Puts the network into the mode of `test`.
std::unique_ptr<Workload> make_supervised(Test test, Supervised parts);

/// Makes Adam for all trained parameters of `network`. The default rate is LibTorch's.
std::unique_ptr<torch::optim::Optimizer> make_adam(torch::nn::Module const& network,
                                                   double rate = 1e-3);

/// Makes stochastic gradient descent for all trained parameters of `network`.
std::unique_ptr<torch::optim::Optimizer> make_sgd(torch::nn::Module const& network,
                                                  double rate,
                                                  double momentum = 0,
                                                  double weight_decay = 0);

}  // namespace torchwatch::suite
