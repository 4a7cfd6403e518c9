// Vision transformers: Dosovitskiy et al., "An Image is Worth 16x16 Words", 2020 (arXiv
// 2010.11929), timm's vit_small_patch16_224 and, of Zhai et al., "Scaling Vision Transformers",
// 2021 (arXiv 2106.04560), vit_giant_patch14_224. Input: images [batch, 3, 224, 224], labels
// [batch] of 1000 classes. Smoke: 64 x 64 pixels, 2 layers of width 96 with 3 or 4 heads.

#include <cmath>
#include <string>
#include <vector>

#include "runner/suite/blocks/timm.h"
#include "runner/suite/blocks/transformer.h"
#include "runner/suite/workload.h"

namespace torchwatch::suite::timm_vision_transformer {
namespace {

using torch::Tensor;
using torch::indexing::Slice;
namespace nn = torch::nn;

constexpr std::int64_t classes = 1000;
constexpr double norm_epsilon = 1e-6;

struct Sizes {
  std::int64_t side, patch, width, feed_width, heads, layers;
};

/// Self-attention, one product for query, key and value.
class FusedAttentionImpl : public nn::Module {
 public:
  FusedAttentionImpl(std::int64_t width, std::int64_t heads)
      : heads_(heads),
        query_key_value_(register_module("query_key_value", nn::Linear(width, 3 * width))),
        output_(register_module("output", nn::Linear(width, width))),
        dropout_(register_module("dropout", nn::Dropout(0))) {}

  Tensor forward(Tensor const& x, Tensor const& /*mask*/) {
    auto const head_width = x.size(2) / heads_;
    auto const fused = torch::linear(x, query_key_value_->weight, query_key_value_->bias);
    auto const parts = fused.reshape({x.size(0), x.size(1), 3, heads_, head_width})
                           .permute({2, 0, 3, 1, 4})
                           .unbind(0);
    auto const scale = 1 / std::sqrt(static_cast<double>(head_width));
    auto const scores = torch::matmul(parts[0], parts[1].transpose(-2, -1)) * scale;
    auto const mixed = torch::matmul(dropout_(scores.softmax(-1)), parts[2]);
    auto const joined = mixed.transpose(1, 2).reshape(x.sizes());
    return torch::linear(joined, output_->weight, output_->bias);
  }

 private:
  std::int64_t heads_;
  nn::Linear query_key_value_, output_;
  nn::Dropout dropout_;
};

TORCH_MODULE(FusedAttention);

TransformerOptions layer_options(Sizes const& sizes) {
  TransformerOptions options;
  options.attention.width = sizes.width;
  options.feed_width = sizes.feed_width;
  options.norm_epsilon = norm_epsilon;
  options.norm_first = true;
  return options;
}

class VisionTransformerImpl : public nn::Module {
 public:
  explicit VisionTransformerImpl(Sizes const& sizes)
      : patches_(register_module(
            "patches",
            nn::Conv2d(nn::Conv2dOptions(3, sizes.width, sizes.patch).stride(sizes.patch)))),
        norm_(register_module(
            "norm", nn::LayerNorm(nn::LayerNormOptions({sizes.width}).eps(norm_epsilon)))),
        head_(register_module("head", nn::Linear(sizes.width, classes))) {
    auto const rows = sizes.side / sizes.patch;
    auto const small = [&](std::int64_t length) {
      return torch::randn({1, length, sizes.width}) * 0.02;
    };
    class_token_ = register_parameter("class_token", small(1));
    positions_ = register_parameter("positions", small(rows * rows + 1));
    for (std::int64_t layer = 0; layer < sizes.layers; ++layer) {
      nn::AnyModule attention(FusedAttention(sizes.width, sizes.heads));
      layers_.emplace_back(register_module("layer" + std::to_string(layer),
                                           TransformerLayer(layer_options(sizes), attention)));
    }
  }

  Tensor forward(Tensor const& images) {
    auto const patches = patches_(images).flatten(2).transpose(1, 2);
    auto x = torch::cat({class_token_.expand({images.size(0), -1, -1}), patches}, 1) + positions_;
    for (auto& layer : layers_)
      x = layer(x, Tensor());
    return head_(norm_(x).index({Slice(), 0}));
  }

 private:
  nn::Conv2d patches_;
  Tensor class_token_, positions_;
  std::vector<TransformerLayer> layers_;
  nn::LayerNorm norm_;
  nn::Linear head_;
};

TORCH_MODULE(VisionTransformer);

std::unique_ptr<Workload> make_vision_transformer(Setup const& setup, Sizes const& sizes) {
  return make_classifier(setup, timm_classification(sizes.side), VisionTransformer(sizes));
}

}  // namespace

std::unique_ptr<Workload> make_timm_vision_transformer(Setup const& setup) {
  return make_vision_transformer(
      setup, setup.pick(Sizes{224, 16, 384, 1536, 6, 12}, Sizes{64, 16, 96, 384, 3, 2}));
}

std::unique_ptr<Workload> make_timm_vision_transformer_large(Setup const& setup) {
  return make_vision_transformer(
      setup, setup.pick(Sizes{224, 14, 1408, 6144, 16, 40}, Sizes{56, 14, 96, 416, 4, 2}));
}

}  // namespace torchwatch::suite::timm_vision_transformer
