// ResNeSt-14d: Zhang et al., "ResNeSt: Split-Attention Networks", 2020 (arXiv 2004.08955), timm's
// resnest14d: bottlenecks whose middle convolution makes two pictures and weighs them channel by
// channel, a stem of three convolutions, and averages wherever the picture shrinks. Input: images
// [batch, 3, 224, 224], labels [batch] of 1000 classes. Smoke: 64 x 64 pixels, a quarter of the
// width. timm begins with the last normalisation of each block at 0; here it is 1, so that all
// parameters have gradients at once.

#include <algorithm>

#include "runner/suite/blocks/convnet.h"
#include "runner/suite/blocks/timm.h"
#include "runner/suite/workload.h"

namespace torchwatch::suite::timm_resnest {
namespace {

using torch::Tensor;
namespace nn = torch::nn;

constexpr std::int64_t classes = 1000;
constexpr std::int64_t radix = 2;
constexpr std::int64_t expansion = 4;

/// `radix` pictures of the input, summed with weights that depend on the means of all.
class SplitAttentionImpl : public nn::Module {
 public:
  explicit SplitAttentionImpl(std::int64_t width)
      : SplitAttentionImpl(width, std::max<std::int64_t>(width * radix / 4, 32)) {}

  Tensor forward(Tensor const& x) {
    auto const batch = x.size(0);
    auto const pictures = pictures_(x).reshape({batch, radix, x.size(1), x.size(2), x.size(3)});
    auto const means = pictures.sum(1).mean({2, 3}, /*keepdim=*/true);
    auto const weights = weigh(score_(hidden_(means))).view({batch, -1, 1, 1});
    return (pictures * weights.reshape({batch, radix, -1, 1, 1})).sum(1).contiguous();
  }

 private:
  SplitAttentionImpl(std::int64_t width, std::int64_t hidden)
      : pictures_(register_module(
            "pictures", ConvUnit(ConvOptions{width, radix * width, 3, 1, radix}, relu_in_place))),
        hidden_(register_module(
            "hidden", ConvUnit(ConvOptions{width, hidden, 1, 1, 1, true}, relu_in_place))),
        score_(register_module("score", Conv(ConvOptions{hidden, radix * width, 1, 1, 1, true}))) {}

  /// [batch, radix * width, 1, 1] -> [batch, radix * width]: what adds up to 1 over the pictures.
  static Tensor weigh(Tensor const& scores) {
    auto const batch = scores.size(0);
    auto const by_picture = scores.view({batch, 1, radix, -1}).transpose(1, 2);
    return torch::softmax(by_picture, 1).reshape({batch, -1});
  }

  ConvUnit pictures_, hidden_;
  Conv score_;
};

TORCH_MODULE(SplitAttention);

class BlockImpl : public nn::Module {
 public:
  BlockImpl(std::int64_t in, std::int64_t width, std::int64_t stride)
      : branch_(register_module("branch",
                                nn::Sequential(ConvUnit(ConvOptions{in, width}, relu_in_place),
                                               SplitAttention(width)))),
        shortcut_(register_module("shortcut", nn::Sequential())) {
    if (stride > 1) {
      branch_->push_back(nn::AvgPool2d(nn::AvgPool2dOptions(3).stride(stride).padding(1)));
      shortcut_->push_back(nn::AvgPool2d(
          nn::AvgPool2dOptions(2).stride(stride).ceil_mode(true).count_include_pad(false)));
    }
    branch_->push_back(ConvUnit(ConvOptions{width, expansion * width}));
    shortcut_->push_back(ConvUnit(ConvOptions{in, expansion * width}));
  }

  Tensor forward(Tensor const& input) {
    auto x = branch_->forward(input);
    x += shortcut_->forward(input);
    return x.relu_();
  }

 private:
  nn::Sequential branch_, shortcut_;
};

TORCH_MODULE(Block);

/// One block a stage.
nn::Sequential make_resnest(std::int64_t width) {
  nn::Sequential network(ConvUnit(ConvOptions{3, width / 2, 3, 2}, relu_in_place),
                         ConvUnit(ConvOptions{width / 2, width / 2, 3}, relu_in_place),
                         ConvUnit(ConvOptions{width / 2, width, 3}, relu_in_place),
                         nn::MaxPool2d(nn::MaxPool2dOptions(3).stride(2).padding(1)));
  auto in = width;
  for (std::int64_t stage = 0; stage < 4; ++stage) {
    network->push_back(Block(in, width << stage, stage == 0 ? 1 : 2));
    in = expansion * (width << stage);
  }
  network->push_back(nn::Functional(global_average));
  network->push_back(nn::Linear(in, classes));
  initialise_convolutions(*network);
  return network;
}

}  // namespace

std::unique_ptr<Workload> make_timm_resnest(Setup const& setup) {
  auto network = make_resnest(setup.pick(64, 16));
  return make_classifier(setup, timm_classification(setup.pick(224, 64)), network);
}

}  // namespace torchwatch::suite::timm_resnest
