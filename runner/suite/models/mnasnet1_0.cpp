// MNASNet-B1: Tan et al., 2018 (arXiv 1807.11626), after torchvision.models.mnasnet, whose names it
// has. Input: images [batch, 3, 224, 224], targets [batch, 1000]. Smoke: 32 x 32 pixels, a quarter
// of the width and no more than two blocks a stack.

#include <algorithm>

#include "runner/suite/blocks/convolution.h"
#include "runner/suite/classification.h"

namespace torchwatch::suite::mnasnet1_0 {
namespace {

using torch::Tensor;
namespace nn = torch::nn;

constexpr std::int64_t classes = 1000;

struct Sizes {
  double width;
  std::int64_t last, most_blocks;
};

struct Stack {
  double channels;  ///< at full width
  std::int64_t kernel, stride, expansion, blocks;
};

constexpr Stack stacks[] = {{24, 3, 2, 3, 3},
                            {40, 5, 2, 3, 3},
                            {80, 5, 2, 6, 3},
                            {96, 3, 1, 6, 2},
                            {192, 5, 2, 6, 4},
                            {320, 3, 1, 6, 1}};

void append_convolution(Chain& layers,
                        ConvOptions const& options,
                        Activation* activation = relu_in_place) {
  NormOptions norm;
  norm.momentum = 1 - 0.9997;
  append(layers, make_conv_norm(options, activation, norm));
}

class InvertedResidualImpl : public nn::Module {
 public:
  InvertedResidualImpl(std::int64_t in, std::int64_t out, std::int64_t stride, Stack const& stack)
      : adds_(in == out && stride == 1),
        layers_(register_module("layers", Chain())) {
    auto const inner = in * stack.expansion;
    append_convolution(layers_, {in, inner, 1});
    append_convolution(layers_, {inner, inner, stack.kernel, stride, inner});
    append_convolution(layers_, {inner, out}, nullptr);
  }

  Tensor forward(Tensor const& x) {
    auto const result = layers_->forward(x);
    return adds_ ? result + x : result;
  }

 private:
  bool adds_;
  Chain layers_;
};

TORCH_MODULE(InvertedResidual);

class MnasNetImpl : public nn::Module {
 public:
  explicit MnasNetImpl(Sizes const& sizes) {
    auto const stem = divisible(32 * sizes.width);
    auto in = divisible(16 * sizes.width);
    append_convolution(layers_, {3, stem, 3, 2});
    append_convolution(layers_, {stem, stem, 3, 1, stem});
    append_convolution(layers_, {stem, in}, nullptr);
    for (auto const& stack : stacks) {
      auto const out = divisible(stack.channels * sizes.width);
      Chain blocks;
      for (std::int64_t i = 0; i < std::min(stack.blocks, sizes.most_blocks); ++i) {
        blocks->push_back(InvertedResidual(in, out, i == 0 ? stack.stride : 1, stack));
        in = out;
      }
      layers_->push_back(blocks);
    }
    append_convolution(layers_, {in, sizes.last, 1});
    nn::Linear linear(sizes.last, classes);
    classifier_->push_back(nn::Dropout(nn::DropoutOptions(0.2).inplace(true)));
    classifier_->push_back(linear);
    register_module("layers", layers_);
    register_module("classifier", classifier_);
    initialise_convolutional(*this);
    nn::init::kaiming_uniform_(linear->weight, 0, torch::kFanOut, torch::kSigmoid);
  }

  Tensor forward(Tensor const& images) {
    return classifier_->forward(layers_->forward(images).mean({2, 3}));
  }

 private:
  Chain layers_, classifier_;
};

TORCH_MODULE(MnasNet);

}  // namespace

std::unique_ptr<Workload> make_mnasnet1_0(Setup const& setup) {
  MnasNet network(setup.pick(Sizes{1, 1280, 4}, Sizes{0.25, 128, 2}));
  return make_classifier(setup, {setup.pick(224, 32), classes, Targets::soft}, network);
}

}  // namespace torchwatch::suite::mnasnet1_0
