#include "runner/suite/blocks/speech_layers.h"

#include <cmath>
#include <limits>

namespace torchwatch::suite {

using torch::Tensor;
namespace nn = torch::nn;

SpeechAttentionImpl::SpeechAttentionImpl(SpeechLayerOptions const& options)
    : heads_(options.heads),
      query_(linear("query", options.width)),
      key_(linear("key", options.width)),
      value_(linear("value", options.width)),
      output_(linear("output", options.width)),
      dropout_(register_module("dropout", nn::Dropout(options.dropout))) {}

Tensor SpeechAttentionImpl::forward(Tensor const& x, Tensor const& memory, Tensor const& mask) {
  auto const query = split(query_(x));
  auto const root = std::sqrt(static_cast<double>(query.size(-1)));
  auto scores = torch::bmm(query, split(key_(memory)).transpose(1, 2)) / root;
  if (mask.defined()) {
    constexpr double never = -std::numeric_limits<double>::infinity();
    scores = scores.masked_fill(mask.repeat({heads_, 1, 1}).to(torch::kBool), never);
  }
  auto const weights = dropout_(torch::softmax(scores, 2));
  auto const mixed = torch::bmm(weights, split(value_(memory)));
  return output_(mixed.view({heads_, x.size(0), x.size(1), -1})
                     .permute({1, 2, 0, 3})
                     .contiguous()
                     .view({x.size(0), x.size(1), -1}));
}

nn::Linear SpeechAttentionImpl::linear(char const* name, std::int64_t width) {
  return register_module(name, nn::Linear(width, width));
}

/// [batch, length, width] -> [heads * batch, length, width / heads]
Tensor SpeechAttentionImpl::split(Tensor const& x) const {
  return x.view({x.size(0), x.size(1), heads_, -1})
      .permute({2, 0, 1, 3})
      .contiguous()
      .view({heads_ * x.size(0), x.size(1), -1});
}

SpeechSumImpl::SpeechSumImpl(SpeechLayerOptions const& options)
    : norm_(register_module("norm", nn::LayerNorm(nn::LayerNormOptions({options.width})))),
      dropout_(register_module("dropout", nn::Dropout(options.dropout))) {}

Tensor SpeechSumImpl::forward(Tensor const& x, Tensor const& sublayer, Tensor const& present) {
  auto sum = norm_(dropout_(sublayer) + x);
  return sum *= present;
}

SpeechLayerImpl::SpeechLayerImpl(SpeechLayerOptions const& options)
    : attention_(register_module("attention", SpeechAttention(options))),
      attention_sum_(register_module("attention_sum", SpeechSum(options))),
      up_(register_module("up", nn::Linear(options.width, options.feed_width))),
      down_(register_module("down", nn::Linear(options.feed_width, options.width))),
      feed_sum_(register_module("feed_sum", SpeechSum(options))) {
  if (!options.cross) return;
  cross_ = register_module("cross", SpeechAttention(options));
  cross_sum_ = register_module("cross_sum", SpeechSum(options));
}

Tensor SpeechLayerImpl::forward(Tensor const& input,
                                Tensor const& present,
                                Tensor const& memory,
                                SpeechMasks const& masks) {
  auto x = attention_sum_(input, attention_(input, input, masks.own), present);
  if (cross_) x = cross_sum_(x, cross_(x, memory, masks.memory), present);
  return feed_sum_(x, down_(torch::relu(up_(x))), present);
}

}  // namespace torchwatch::suite
