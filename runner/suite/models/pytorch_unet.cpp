// U-Net: Ronneberger et al., 2015 (arXiv 1505.04597), after milesial/Pytorch-UNet with bilinear
// upsampling as TorchBench runs it on images of the Carvana challenge at half their size. Train:
// cross entropy and Dice loss, RMSprop. Eval: the mask as one channel a class. Input: images
// [batch, 3, 640, 959], masks of two classes. Smoke: 32 x 47 pixels, an eighth of the channels. The
// masks hold a rectangle, while upstream's hold the first class alone.

#include <array>

#include "runner/suite/supervised.h"

namespace torchwatch::suite::pytorch_unet {
namespace {

using torch::Tensor;
using torch::indexing::Slice;
namespace nn = torch::nn;
namespace F = torch::nn::functional;

constexpr std::int64_t classes = 2;

nn::Sequential make_double_convolution(std::int64_t in, std::int64_t middle, std::int64_t out) {
  nn::Sequential layers;
  for (auto const& [from, to] : {std::pair(in, middle), std::pair(middle, out)}) {
    layers->push_back(nn::Conv2d(nn::Conv2dOptions(from, to, 3).padding(1)));
    layers->push_back(nn::BatchNorm2d(to));
    layers->push_back(nn::ReLU(nn::ReLUOptions(true)));
  }
  return layers;
}

/// `x` at twice its size and with borders to match `skip`, behind it.
Tensor merge(Tensor const& skip, Tensor const& x) {
  auto const grown = torch::upsample_bilinear2d(x, c10::nullopt, true, std::vector<double>{2, 2});
  auto const high = skip.size(2) - grown.size(2);
  auto const wide = skip.size(3) - grown.size(3);
  auto const padded = torch::pad(grown, {wide / 2, wide - wide / 2, high / 2, high - high / 2});
  return torch::cat({skip, padded}, 1);
}

/// Images [batch, 3, height, width] -> logits [batch, classes, height, width].
class UnetImpl : public nn::Module {
 public:
  explicit UnetImpl(std::int64_t width)
      : first_(register_module("inc", make_double_convolution(3, width, width))),
        last_(nn::Conv2dOptions(width, classes, 1)) {
    std::array<std::int64_t, 5> const channels{width, 2 * width, 4 * width, 8 * width, 8 * width};
    for (std::size_t i = 1; i < channels.size(); ++i)
      down_.emplace_back(
          register_module("down" + std::to_string(i),
                          make_double_convolution(channels[i - 1], channels[i], channels[i])));
    for (std::size_t i = 1; i < channels.size(); ++i) {
      auto const middle = channels[channels.size() - 1 - i];
      auto const out = i + 1 < channels.size() ? middle / 2 : middle;
      up_.emplace_back(register_module("up" + std::to_string(i),
                                       make_double_convolution(2 * middle, middle, out)));
    }
    register_module("outc", last_);
  }

  Tensor forward(Tensor const& images) {
    auto x = first_->forward(images);
    std::vector<Tensor> skips;
    for (auto& layers : down_) {
      skips.push_back(x);
      x = layers->forward(torch::max_pool2d(x, 2));
    }
    for (auto& layers : up_) {
      x = layers->forward(merge(skips.back(), x));
      skips.pop_back();
    }
    return last_(x);
  }

 private:
  nn::Sequential first_;
  std::vector<nn::Sequential> down_, up_;
  nn::Conv2d last_;
};

TORCH_MODULE(Unet);

/// [batch, height, width] of classes -> [batch, classes, height, width] of zeros and ones.
Tensor spread(Tensor const& mask) {
  return torch::one_hot(mask, classes).permute({0, 3, 1, 2}).to(torch::kFloat);
}

/// One minus the mean over the classes of how far prediction and truth overlap.
Tensor dice_loss(Tensor const& probabilities, Tensor const& truth) {
  constexpr double epsilon = 1e-6;
  auto overlaps = torch::zeros({}, probabilities.options());
  for (std::int64_t i = 0; i < classes; ++i) {
    auto const predicted = probabilities.select(1, i).reshape(-1);
    auto const wanted = truth.select(1, i).reshape(-1);
    auto const common = 2 * torch::dot(predicted, wanted);
    auto total = predicted.sum() + wanted.sum();
    if (total.item<double>() == 0) total = common;
    overlaps = overlaps + (common + epsilon) / (total + epsilon);
  }
  return torch::rsub(overlaps / classes, 1);
}

Tensor make_masks(Setup const& setup, std::int64_t height, std::int64_t width) {
  auto masks = torch::zeros({setup.batch, height, width}, torch::kLong);
  masks.index_put_({Slice(), Slice(height / 4, height * 3 / 4), Slice(width / 4, width * 3 / 4)},
                   1);
  return setup.place(masks);
}

}  // namespace

std::unique_ptr<Workload> make_pytorch_unet(Setup const& setup) {
  Unet network(setup.pick(64, 8));
  setup.place(*network);
  auto const height = setup.pick(640, 32);
  auto const width = setup.pick(959, 47);
  auto const images = setup.place(torch::rand({setup.batch, 3, height, width}));
  auto const masks = make_masks(setup, height, width);

  Supervised parts;
  parts.network = network.ptr();
  parts.forward = [network, images, test = setup.test]() mutable {
    auto const logits = network->forward(images);
    return std::vector<Tensor>{test == Test::train ? logits : spread(logits.argmax(1))};
  };
  parts.loss = [masks](auto const& outputs) {
    auto const probabilities = torch::softmax(outputs[0], 1).to(torch::kFloat);
    return F::cross_entropy(outputs[0], masks) + dice_loss(probabilities, spread(masks));
  };
  parts.optimizer = std::make_unique<torch::optim::RMSprop>(
      network->parameters(), torch::optim::RMSpropOptions(1e-5).weight_decay(1e-8).momentum(0.9));
  return make_supervised(setup.test, std::move(parts));
}

}  // namespace torchwatch::suite::pytorch_unet
