#pragma once

#include <functional>
#include <memory>

#include "runner/suite/supervised.h"

namespace torchwatch::suite {

/// The targets of cross entropy.
enum class Targets {
  labels,  ///< a class for each image
  drawn,   ///< a class for each image, drawn in each step from one seed, so they can be learned
  soft,    ///< a random number in [0, 1) for each class of each image
};

/// Options of a classification of random images of three channels and `side` x `side` pixels.
struct Classification {
  std::int64_t side = 224;
  std::int64_t classes = 1000;
  Targets targets = Targets::labels;
  double rate = 1e-3;  ///< learning rate of Adam
  /// Makes the optimizer for the placed network; Adam when empty.
  std::function<std::unique_ptr<torch::optim::Optimizer>(torch::nn::Module const&)> optimizer = {};
};

/// Makes a classifier. `forward` returns the logits of images, [batch, classes].
std::unique_ptr<Workload> make_classifier(
    Setup const& setup,
    Classification const& options,
    std::shared_ptr<torch::nn::Module> network,
    std::function<torch::Tensor(torch::Tensor const& images)> forward);

/// Makes a classifier from a module holder whose `forward` takes only images.
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
