#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "runner/suite/workload.h"

namespace torchwatch::suite {

/// What most benchmarks are made of. The functions hold the network and its batch; all are placed
/// as the setup says.
struct Supervised {
  std::shared_ptr<torch::nn::Module> network;
  std::vector<torch::Tensor> inputs;  ///< those that `forward` holds, for Workload::inputs
  std::function<std::vector<torch::Tensor>()> forward;  ///< at least one output
  std::function<torch::Tensor(std::vector<torch::Tensor> const& outputs)> loss;  ///< a scalar
  std::unique_ptr<torch::optim::Optimizer> optimizer;
  double gradient_norm = 0;  ///< gradients are scaled down to it before a step; 0: never
};

/// Puts the network into the mode of `test` and iterates over the one batch.
std::unique_ptr<Workload> make_supervised(Test test, Supervised parts);

/// Adam for all that `network` trains, at LibTorch's default rate unless said otherwise.
std::unique_ptr<torch::optim::Optimizer> make_adam(torch::nn::Module const& network,
                                                   double rate = 1e-3);

/// Stochastic gradient descent for all that `network` trains.
std::unique_ptr<torch::optim::Optimizer> make_sgd(torch::nn::Module const& network,
                                                  double rate,
                                                  double momentum = 0,
                                                  double weight_decay = 0);

}  // namespace torchwatch::suite
