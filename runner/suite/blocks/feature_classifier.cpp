#include "runner/suite/blocks/feature_classifier.h"

namespace torchwatch::suite {

using torch::Tensor;
namespace nn = torch::nn;

nn::ReLU make_relu() {
  return nn::ReLU(nn::ReLUOptions(true));
}

nn::Conv2d make_plain_convolution(std::int64_t in, std::int64_t out, std::int64_t kernel) {
  return nn::Conv2d(nn::Conv2dOptions(in, out, kernel).padding(kernel / 2));
}

FeatureClassifierImpl::FeatureClassifierImpl(nn::Sequential const& features,
                                             std::int64_t side,
                                             nn::Sequential const& classifier)
    : features_(register_module("features", features)),
      classifier_(register_module("classifier", classifier)),
      side_(side) {}

Tensor FeatureClassifierImpl::forward(Tensor const& images) {
  auto const features = torch::adaptive_avg_pool2d(features_->forward(images), {side_, side_});
  return classifier_->forward(features.flatten(1));
}

}  // namespace torchwatch::suite
