// VGG of 16 layers without normalisation: Simonyan and Zisserman, 2014 (arXiv 1409.1556), after
// torchvision.models.vgg, whose names it has. Input: images [batch, 3, 224, 224], targets [batch,
// 1000]. Smoke: 32 x 32 pixels, an eighth of the channels, a sixteenth of the linear layers.

#include "runner/suite/blocks/convolution.h"
#include "runner/suite/blocks/vgg.h"
#include "runner/suite/classification.h"

namespace torchwatch::suite::vgg16 {
namespace {

using torch::Tensor;
namespace nn = torch::nn;

constexpr std::int64_t classes = 1000;

nn::ReLU relu() {
  return nn::ReLU(nn::ReLUOptions(true));
}

class VggImpl : public nn::Module {
 public:
  VggImpl(VggOptions const& options, std::int64_t hidden)
      : features_(register_module("features", make_vgg16_features(options))),
        classifier_(register_module("classifier",
                                    nn::Sequential(nn::Linear(8 * options.width * 7 * 7, hidden),
                                                   relu(),
                                                   nn::Dropout(0.5),
                                                   nn::Linear(hidden, hidden),
                                                   relu(),
                                                   nn::Dropout(0.5),
                                                   nn::Linear(hidden, classes)))) {
    initialise_convolutional(*this);
  }

  Tensor forward(Tensor const& images) {
    auto const features = torch::adaptive_avg_pool2d(features_->forward(images), {7, 7});
    return classifier_->forward(features.flatten(1));
  }

 private:
  nn::Sequential features_, classifier_;
};

TORCH_MODULE(Vgg);

}  // namespace

std::unique_ptr<Workload> make_vgg16(Setup const& setup) {
  VggOptions options;
  options.width = setup.pick(64, 8);
  Vgg network(options, setup.pick(4096, 256));
  return make_classifier(setup, {setup.pick(224, 32), classes, Targets::soft}, network);
}

}  // namespace torchwatch::suite::vgg16
