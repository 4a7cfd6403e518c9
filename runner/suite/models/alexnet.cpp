// AlexNet: Krizhevsky, "One weird trick for parallelizing convolutional neural networks", 2014
// (arXiv 1404.5997), after torchvision.models.alexnet, whose names it has. Input: images [batch, 3,
// 224, 224], targets [batch, 1000]. Smoke: 64 x 64 pixels, a quarter of the channels, a sixteenth
// of the linear layers.

#include "runner/suite/classification.h"

namespace torchwatch::suite::alexnet {
namespace {

using torch::Tensor;
namespace nn = torch::nn;

constexpr std::int64_t classes = 1000;

nn::ReLU relu() {
  return nn::ReLU(nn::ReLUOptions(true));
}

nn::MaxPool2d pool() {
  return nn::MaxPool2d(nn::MaxPool2dOptions(3).stride(2));
}

nn::Conv2d convolution(std::int64_t in, std::int64_t out, std::int64_t kernel) {
  return nn::Conv2d(nn::Conv2dOptions(in, out, kernel).padding(kernel / 2));
}

class AlexNetImpl : public nn::Module {
 public:
  /// `width`: of the first layer.
  AlexNetImpl(std::int64_t width, std::int64_t hidden)
      : features_(nn::Conv2d(nn::Conv2dOptions(3, width, 11).stride(4).padding(2)),
                  relu(),
                  pool(),
                  convolution(width, 3 * width, 5),
                  relu(),
                  pool(),
                  convolution(3 * width, 6 * width, 3),
                  relu(),
                  convolution(6 * width, 4 * width, 3),
                  relu(),
                  convolution(4 * width, 4 * width, 3),
                  relu(),
                  pool()),
        classifier_(nn::Dropout(0.5),
                    nn::Linear(4 * width * 6 * 6, hidden),
                    relu(),
                    nn::Dropout(0.5),
                    nn::Linear(hidden, hidden),
                    relu(),
                    nn::Linear(hidden, classes)) {
    register_module("features", features_);
    register_module("classifier", classifier_);
  }

  Tensor forward(Tensor const& images) {
    auto const features = torch::adaptive_avg_pool2d(features_->forward(images), {6, 6});
    return classifier_->forward(features.flatten(1));
  }

 private:
  nn::Sequential features_, classifier_;
};

TORCH_MODULE(AlexNet);

}  // namespace

std::unique_ptr<Workload> make_alexnet(Setup const& setup) {
  AlexNet network(setup.pick(64, 16), setup.pick(4096, 256));
  return make_classifier(setup, {setup.pick(224, 64), classes, Targets::soft}, network);
}

}  // namespace torchwatch::suite::alexnet
