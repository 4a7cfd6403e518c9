// Deep autoencoder for collaborative filtering: Kuchaiev and Ginsburg, 2017 (arXiv 1708.01715),
// after NVIDIA/DeepRecommender as TorchBench runs it: six layers of 512, 512, 1024 and back, SELU
// after each and dropout of the code; mean squared error over the rated items, SGD with momentum.
// Input: ratings [batch, 197951], drawn normally as upstream draws them, so that every item is
// rated. Smoke: 2000 items, layers of an eighth of the width, a higher rate, since upstream's shows
// nothing within ten steps.

#include <utility>

#include "runner/suite/layers.h"
#include "runner/suite/supervised.h"

namespace torchwatch::suite::nvidia_deeprecommender {
namespace {

using torch::Tensor;
namespace nn = torch::nn;

class AutoencoderImpl : public nn::Module {
 public:
  AutoencoderImpl(std::int64_t items, std::int64_t width, double dropout)
      : encoder_(register_module(
            "encoder", make_mlp({items, width, width, 2 * width}, &torch::selu, &torch::selu))),
        dropout_(register_module("dropout", nn::Dropout(dropout))),
        decoder_(register_module(
            "decoder", make_mlp({2 * width, width, width, items}, &torch::selu, &torch::selu))) {
    for (auto const& module : modules(false)) {
      if (auto const* linear = module->as<nn::Linear>()) {
        nn::init::xavier_uniform_(linear->weight);
        nn::init::zeros_(linear->bias);
      }
    }
  }

  Tensor forward(Tensor const& ratings) {
    return decoder_->forward(dropout_(encoder_->forward(ratings)));
  }

 private:
  nn::Sequential encoder_;
  nn::Dropout dropout_;
  nn::Sequential decoder_;
};

TORCH_MODULE(Autoencoder);

/// The mean over all items that were rated.
Tensor masked_loss(Tensor const& guesses, Tensor const& ratings) {
  auto const rated = (ratings != 0).to(ratings.scalar_type());
  return torch::mse_loss(guesses * rated, ratings, torch::Reduction::Sum) / rated.sum();
}

}  // namespace

std::unique_ptr<Workload> make_nvidia_deeprecommender(Setup const& setup) {
  auto const items = setup.pick(197951, 2000);
  Autoencoder network(items, setup.pick(512, 64), 0.8);
  setup.place(*network);
  auto const ratings = setup.place(torch::randn({setup.batch, items}));

  Supervised parts;
  parts.network = network.ptr();
  parts.forward = [network, ratings]() mutable {
    return std::vector<Tensor>{network->forward(ratings)};
  };
  parts.loss = [ratings](auto const& outputs) {
    return masked_loss(outputs[0], ratings);
  };
  parts.optimizer = make_sgd(*network, setup.pick(0.005, 1.0), 0.9);
  return make_supervised(setup.test, std::move(parts));
}

}  // namespace torchwatch::suite::nvidia_deeprecommender
