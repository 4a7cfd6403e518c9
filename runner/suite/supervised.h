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

/// Random images of three channels and `side` x `side` pixels, each of one of `classes` classes.
struct Classification {
  std::int64_t side = 224;
  std::int64_t classes = 1000;
  double rate = 1e-3;  ///< of Adam
  /// For the placed network; Adam when empty.
  std::function<std::unique_ptr<torch::optim::Optimizer>(torch::nn::Module const&)> optimizer = {};
};

/// Cross entropy of what `forward` makes of the images, [batch, classes].
std::unique_ptr<Workload> make_classifier(
    Setup const& setup,
    Classification const& options,
    std::shared_ptr<torch::nn::Module> network,
    std::function<torch::Tensor(torch::Tensor const& images)> forward);

/// The same for a module holder whose `forward` takes images alone.
template <class Network>
std::unique_ptr<Workload> make_classifier(Setup const& setup,
                                          Classification const& options,
                                          Network network) {
  return make_classifier(
      setup, options, network.ptr(), [network](torch::Tensor const& images) mutable {
        return network->forward(images);
      });
}

}  // namespace torchwatch::suite
