// VGG of 16 layers without normalisation: Simonyan and Zisserman, 2014 (arXiv 1409.1556), after
// torchvision.models.vgg, whose names it has. Input: images [batch, 3, 224, 224], targets [batch,
// 1000]. Smoke: 32 x 32 pixels, an eighth of the channels, a sixteenth of the linear layers.

#include "runner/suite/blocks/convolution.h"
#include "runner/suite/blocks/feature_classifier.h"
#include "runner/suite/blocks/vgg.h"
#include "runner/suite/classification.h"

namespace torchwatch::suite::vgg16 {
namespace {

namespace nn = torch::nn;

constexpr std::int64_t classes = 1000;

FeatureClassifier make_network(VggOptions const& options, std::int64_t hidden) {
  auto const features = make_vgg16_features(options);
  nn::Sequential const classifier(nn::Linear(8 * options.width * 7 * 7, hidden),
                                  make_relu(),
                                  nn::Dropout(0.5),
                                  nn::Linear(hidden, hidden),
                                  make_relu(),
                                  nn::Dropout(0.5),
                                  nn::Linear(hidden, classes));
  FeatureClassifier network(features, 7, classifier);
  initialise_convolutional(*network);
  return network;
}

}  // namespace

std::unique_ptr<Workload> make_vgg16(Setup const& setup) {
  VggOptions options;
  options.width = setup.pick(64, 8);
  auto const network = make_network(options, setup.pick(4096, 256));
  return make_classifier(setup, {setup.pick(224, 32), classes, Targets::soft}, network);
}

}  // namespace torchwatch::suite::vgg16
