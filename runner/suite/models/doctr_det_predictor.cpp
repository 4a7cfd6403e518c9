// Text detection by differentiable binarisation: Liao et al., 2019 (arXiv 1911.08947), after
// db_resnet50 of mindee/doctr as TorchBench runs it: the features of a ResNet50, a feature pyramid
// and the head for probabilities; the head for thresholds has parameters and no part in inference.
// Eval alone, as upstream. Input: images [1, 3, 1024, 1024]. Smoke: 128 x 128 pixels, an eighth of
// the channels, one block a stage. Boxes around the text, which upstream finds with OpenCV on the
// host, stay out; what it hands to OpenCV is the second output.

#include <utility>

#include "runner/suite/blocks/resnet.h"
#include "runner/suite/blocks/translation.h"
#include "runner/suite/supervised.h"

namespace torchwatch::suite::doctr_det_predictor {
namespace {

using torch::Tensor;
namespace nn = torch::nn;

void append_enlarging(nn::Sequential& layers, std::int64_t times) {
  auto const factor = static_cast<double>(times);
  layers->push_back(nn::Upsample(nn::UpsampleOptions()
                                     .scale_factor(std::vector<double>{factor, factor})
                                     .mode(torch::kBilinear)
                                     .align_corners(true)));
}

nn::Conv2d make_convolution(std::int64_t in, std::int64_t out, std::int64_t kernel) {
  nn::Conv2d conv(nn::Conv2dOptions(in, out, kernel).padding(kernel / 2).bias(false));
  nn::init::kaiming_normal_(conv->weight, 0, torch::kFanOut, torch::kReLU);
  return conv;
}

/// Merges features, finest first, into [batch, channels, height / 4, width / 4] of the picture.
class PyramidImpl : public nn::Module {
 public:
  PyramidImpl(std::vector<std::int64_t> const& in, std::int64_t channels)
      : in_(register_module("in_branches", nn::ModuleList())),
        enlarge_(register_module("upsample", nn::Sequential())),
        out_(register_module("out_branches", nn::ModuleList())) {
    append_enlarging(enlarge_, 2);
    auto const share = channels / static_cast<std::int64_t>(in.size());
    std::int64_t times = 1;
    for (auto const width : in) {
      nn::Sequential inward;
      append_unit(inward, make_convolution(width, channels, 1), batch_norm);
      in_->push_back(inward);
      nn::Sequential outward;
      append_unit(outward, make_convolution(channels, share, 3), batch_norm);
      append_enlarging(outward, std::exchange(times, 2 * times));
      out_->push_back(outward);
    }
  }

  Tensor forward(std::vector<Tensor> const& features) {
    std::vector<Tensor> merged(features.size());
    for (std::size_t i = features.size(); i-- > 0;) {
      merged[i] = in_->ptr<nn::SequentialImpl>(i)->forward(features[i]);
      if (i + 1 < features.size()) merged[i] = enlarge_->forward(merged[i + 1]) + merged[i];
    }
    for (std::size_t i = 0; i < features.size(); ++i)
      merged[i] = out_->ptr<nn::SequentialImpl>(i)->forward(merged[i]);
    return torch::cat(merged, 1);
  }

 private:
  nn::ModuleList in_;
  nn::Sequential enlarge_;
  nn::ModuleList out_;
};

TORCH_MODULE(Pyramid);

/// A map of one channel, four times as high and wide.
nn::Sequential make_head(std::int64_t channels) {
  auto const inner = channels / 4;
  nn::Sequential head;
  append_unit(head, make_convolution(channels, inner, 3), batch_norm);
  auto const doubling = nn::ConvTranspose2dOptions(inner, inner, 2).stride(2).bias(false);
  append_unit(head, nn::ConvTranspose2d(doubling), batch_norm);
  head->push_back(nn::ConvTranspose2d(nn::ConvTranspose2dOptions(inner, 1, 2).stride(2)));
  return head;
}

/// Images [batch, 3, height, width] -> how likely each pixel is text, [batch, 1, height, width].
class DetectorImpl : public nn::Module {
 public:
  DetectorImpl(ResNetOptions const& options, std::int64_t channels)
      : features_(register_module("feat_extractor", ResNet(options))),
        pyramid_(register_module("fpn", Pyramid(ResNetImpl::channels(options), channels))),
        probability_(register_module("prob_head", make_head(channels))) {
    register_module("thresh_head", make_head(channels));
  }

  Tensor forward(Tensor const& images) {
    return torch::sigmoid(probability_->forward(pyramid_(features_->features(images))));
  }

 private:
  ResNet features_;
  Pyramid pyramid_;
  nn::Sequential probability_;
};

TORCH_MODULE(Detector);

}  // namespace

std::unique_ptr<Workload> make_doctr_det_predictor(Setup const& setup) {
  ResNetOptions options;
  options.width = setup.pick(64, 8);
  if (setup.scale == Scale::smoke) options.depths = {1, 1, 1, 1};
  options.classes = 0;
  Detector network(options, setup.pick(256, 32));
  setup.place(*network);
  auto const side = setup.pick(1024, 128);
  auto const images = setup.place(torch::randn({setup.batch, 3, side, side}));

  Supervised parts;
  parts.network = network.ptr();
  parts.forward = [network, images]() mutable {
    auto const likely = network(images);
    return std::vector<Tensor>{likely, likely.detach().cpu().permute({0, 2, 3, 1})};
  };
  return make_supervised(setup.test, std::move(parts));
}

}  // namespace torchwatch::suite::doctr_det_predictor
