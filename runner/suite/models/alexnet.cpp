// AlexNet: Krizhevsky, "One weird trick for parallelizing convolutional neural networks", 2014
// (arXiv 1404.5997), after torchvision.models.alexnet, whose names it has. Input: images [batch, 3,
// 224, 224], targets [batch, 1000]. Smoke: 64 x 64 pixels, a quarter of the channels, a sixteenth
// of the linear layers.

#include "runner/suite/blocks/feature_classifier.h"
#include "runner/suite/classification.h"

namespace torchwatch::suite::alexnet {
namespace {

namespace nn = torch::nn;

constexpr std::int64_t classes = 1000;

nn::MaxPool2d pool() {
  return nn::MaxPool2d(nn::MaxPool2dOptions(3).stride(2));
}

/// `width`: of the first layer.
FeatureClassifier make_network(std::int64_t width, std::int64_t hidden) {
  nn::Sequential const features(nn::Conv2d(nn::Conv2dOptions(3, width, 11).stride(4).padding(2)),
                                make_relu(),
                                pool(),
                                make_plain_convolution(width, 3 * width, 5),
                                make_relu(),
                                pool(),
                                make_plain_convolution(3 * width, 6 * width, 3),
                                make_relu(),
                                make_plain_convolution(6 * width, 4 * width, 3),
                                make_relu(),
                                make_plain_convolution(4 * width, 4 * width, 3),
                                make_relu(),
                                pool());
  nn::Sequential const classifier(nn::Dropout(0.5),
                                  nn::Linear(4 * width * 6 * 6, hidden),
                                  make_relu(),
                                  nn::Dropout(0.5),
                                  nn::Linear(hidden, hidden),
                                  make_relu(),
                                  nn::Linear(hidden, classes));
  return FeatureClassifier(features, 6, classifier);
}

}  // namespace

std::unique_ptr<Workload> make_alexnet(Setup const& setup) {
  auto const network = make_network(setup.pick(64, 16), setup.pick(4096, 256));
  return make_classifier(setup, {setup.pick(224, 64), classes, Targets::soft}, network);
}

}  // namespace torchwatch::suite::alexnet
