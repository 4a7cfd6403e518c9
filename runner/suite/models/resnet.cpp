// Residual networks for image classification: He et al., "Deep Residual Learning for Image
// Recognition", 2015 (arXiv 1512.03385); widths, strides and initialisation as in
// torchvision.models.resnet18. Input: images [batch, 3, 224, 224], labels [batch] of 1000 classes.
// Smoke: 64 x 64 pixels, a quarter of the width.

#include <utility>

#include "runner/suite/models.h"
#include "runner/suite/supervised.h"

namespace torchwatch::suite {
namespace {

using torch::Tensor;
namespace nn = torch::nn;

nn::Conv2d convolution(std::int64_t in,
                       std::int64_t out,
                       std::int64_t kernel,
                       std::int64_t stride) {
  return nn::Conv2d(
      nn::Conv2dOptions(in, out, kernel).stride(stride).padding(kernel / 2).bias(false));
}

/// Two 3 x 3 convolutions beside a shortcut, which is a 1 x 1 convolution where the shape changes.
class BasicBlockImpl : public nn::Module {
 public:
  BasicBlockImpl(std::int64_t in, std::int64_t out, std::int64_t stride)
      : conv1_(register_module("conv1", convolution(in, out, 3, stride))),
        norm1_(register_module("norm1", nn::BatchNorm2d(out))),
        conv2_(register_module("conv2", convolution(out, out, 3, 1))),
        norm2_(register_module("norm2", nn::BatchNorm2d(out))) {
    if (stride == 1 && in == out) return;
    shortcut_ = register_module(
        "shortcut", nn::Sequential(convolution(in, out, 1, stride), nn::BatchNorm2d(out)));
  }

  Tensor forward(Tensor const& input) {
    auto const inner = torch::relu(norm1_(conv1_(input)));
    auto const outer = norm2_(conv2_(inner));
    return torch::relu(outer + (shortcut_.is_empty() ? input : shortcut_->forward(input)));
  }

 private:
  nn::Conv2d conv1_;
  nn::BatchNorm2d norm1_;
  nn::Conv2d conv2_;
  nn::BatchNorm2d norm2_;
  nn::Sequential shortcut_{nullptr};
};

TORCH_MODULE(BasicBlock);

/// Four stages of `depths` blocks; each stage doubles the width and, from the second on, halves the
/// picture.
nn::Sequential make_resnet(std::vector<std::int64_t> const& depths, std::int64_t width) {
  nn::Sequential layers(convolution(3, width, 7, 2),
                        nn::BatchNorm2d(width),
                        nn::ReLU(nn::ReLUOptions(true)),
                        nn::MaxPool2d(nn::MaxPool2dOptions(3).stride(2).padding(1)));
  std::int64_t in = width;
  for (std::size_t stage = 0; stage < depths.size(); ++stage) {
    std::int64_t const out = width << stage;
    for (std::int64_t block = 0; block < depths[stage]; ++block) {
      layers->push_back(BasicBlock(in, out, stage > 0 && block == 0 ? 2 : 1));
      in = out;
    }
  }
  layers->push_back(nn::AdaptiveAvgPool2d(nn::AdaptiveAvgPool2dOptions({1, 1})));
  layers->push_back(nn::Flatten());
  layers->push_back(nn::Linear(in, 1000));
  for (auto const& module : layers->modules(false)) {
    if (auto const* conv = module->as<nn::Conv2d>())
      nn::init::kaiming_normal_(conv->weight, 0, torch::kFanOut, torch::kReLU);
  }
  return layers;
}

}  // namespace

std::unique_ptr<Workload> make_resnet18(Setup const& setup) {
  auto network = make_resnet({2, 2, 2, 2}, setup.pick(64, 16));
  network->to(setup.device);
  auto const side = setup.pick(224, 64);
  auto const images = torch::randn({setup.batch, 3, side, side}).to(setup.device);
  auto const labels = torch::randint(1000, {setup.batch}, torch::kLong).to(setup.device);

  Supervised parts;
  parts.network = network.ptr();
  parts.forward = [network, images]() mutable {
    return std::vector<Tensor>{network->forward(images)};
  };
  parts.loss = [labels](auto const& outputs) {
    return nn::functional::cross_entropy(outputs[0], labels);
  };
  parts.optimizer =
      std::make_unique<torch::optim::Adam>(network->parameters(), torch::optim::AdamOptions(1e-3));
  return make_supervised(setup.test, std::move(parts));
}

}  // namespace torchwatch::suite
