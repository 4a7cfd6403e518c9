#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "runner/suite/workload.h"

namespace torchwatch::suite {

/// What most benchmarks are made of. The functions hold the network and its batch; all are on the
/// setup's device.
struct Supervised {
  std::shared_ptr<torch::nn::Module> network;
  std::function<std::vector<torch::Tensor>()> forward;  ///< at least one output
  std::function<torch::Tensor(std::vector<torch::Tensor> const& outputs)> loss;  ///< a scalar
  std::unique_ptr<torch::optim::Optimizer> optimizer;
};

/// Puts the network into the mode of `test` and iterates over the one batch.
std::unique_ptr<Workload> make_supervised(Test test, Supervised parts);

}  // namespace torchwatch::suite
