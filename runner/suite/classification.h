#pragma once

#include <functional>
#include <memory>

#include "runner/suite/supervised.h"

namespace torchwatch::suite {

/// What cross entropy compares the outputs with.
enum class Targets {
  labels,  ///< a class for each image
  drawn,   ///< the same, drawn anew in each step, yet always alike, so that they can be learned
  soft,    ///< a random number in [0, 1) for each class of each image
};

/// Random images of three channels and `side` x `side` pixels, and how they are learned.
struct Classification {
  std::int64_t side = 224;
  std::int64_t classes = 1000;
  Targets targets = Targets::labels;
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
