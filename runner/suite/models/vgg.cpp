// VGG of 16 layers without normalisation: Simonyan and Zisserman, 2014 (arXiv 1409.1556), after
// torchvision.models.vgg, whose names it has. Input: images [batch, 3, 224, 224], labels [batch] of
// 1000 classes. Smoke: 32 x 32 pixels, an eighth of the channels, a sixteenth of the linear layers.

#include "runner/suite/blocks/convolution.h"
#include "runner/suite/supervised.h"

namespace torchwatch::suite {
namespace {

using torch::Tensor;
namespace nn = torch::nn;

constexpr std::int64_t classes = 1000;

struct Stage {
  std::int64_t widening, layers;  ///< channels as a multiple of the first stage's
};

constexpr Stage stages[] = {{1, 2}, {2, 2}, {4, 3}, {8, 3}, {8, 3}};

nn::ReLU relu() {
  return nn::ReLU(nn::ReLUOptions(true));
}

class VggImpl : public nn::Module {
 public:
  VggImpl(std::int64_t width, std::int64_t hidden)
      : features_(register_module("features", nn::Sequential())),
        classifier_(register_module("classifier",
                                    nn::Sequential(nn::Linear(8 * width * 7 * 7, hidden),
                                                   relu(),
                                                   nn::Dropout(0.5),
                                                   nn::Linear(hidden, hidden),
                                                   relu(),
                                                   nn::Dropout(0.5),
                                                   nn::Linear(hidden, classes)))) {
    std::int64_t in = 3;
    for (auto const& stage : stages) {
      for (std::int64_t layer = 0; layer < stage.layers; ++layer) {
        auto const out = width * stage.widening;
        features_->push_back(nn::Conv2d(nn::Conv2dOptions(in, out, 3).padding(1)));
        features_->push_back(relu());
        in = out;
      }
      features_->push_back(nn::MaxPool2d(nn::MaxPool2dOptions(2).stride(2)));
    }
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
  Vgg network(setup.pick(64, 8), setup.pick(4096, 256));
  return make_classifier(setup, {setup.pick(224, 32), classes}, network);
}

}  // namespace torchwatch::suite
