#include "runner/suite/blocks/transformer.h"

#include <cmath>
#include <string>
#include <utility>

namespace torchwatch::suite {

using torch::Tensor;
namespace nn = torch::nn;

namespace {

/// One operator as in Python: LibTorch's module multiplies and then adds.
Tensor project(nn::Linear const& layer, Tensor const& x) {
  return torch::linear(x, layer->weight, layer->bias);
}

}  // namespace

Tensor mask_scores(Tensor const& scores, Tensor const& mask) {
  if (mask.scalar_type() == torch::kBool) return scores.masked_fill(mask, hidden_score);
  return scores + mask;
}

AttentionImpl::AttentionImpl(AttentionOptions const& options)
    : options_(options),
      dropout_(register_module("dropout", nn::Dropout(options.dropout))) {
  auto const head_width =
      options.head_width > 0 ? options.head_width : options.width / options.heads;
  auto const inner = options.heads * head_width;
  auto const linear = [&](char const* name, std::int64_t in, std::int64_t out) {
    return register_module(name, nn::Linear(nn::LinearOptions(in, out).bias(options.bias)));
  };
  if (options.fused) {
    fused_ = linear("query_key_value", options.width, 3 * inner);
  } else {
    query_ = linear("query", options.width, inner);
    key_ = linear("key", options.width, inner);
    value_ = linear("value", options.width, inner);
  }
  output_ = linear("output", inner, options.width);
}

Tensor AttentionImpl::forward(Tensor const& x, Tensor const& mask) {
  if (!options_.fused) return attend(x, x, mask);
  auto const parts = project(fused_, x).chunk(3, -1);
  return mix(parts[0], parts[1], parts[2], mask);
}

Tensor AttentionImpl::attend(Tensor const& x, Tensor const& memory, Tensor const& mask) {
  return mix(project(query_, x), project(key_, memory), project(value_, memory), mask);
}

Tensor AttentionImpl::mix(Tensor const& query,
                          Tensor const& key,
                          Tensor const& value,
                          Tensor const& mask) {
  auto queries = split_heads(query, options_.heads);
  auto const scale = std::sqrt(static_cast<double>(queries.size(-1)));
  if (options_.scale_queries) queries = queries / scale;
  auto scores = torch::matmul(queries, split_heads(key, options_.heads).transpose(-2, -1));
  if (options_.scaled && !options_.scale_queries) scores = scores / scale;
  if (mask.defined()) scores = options_.masking(scores, mask);
  auto const weights = dropout_(torch::softmax(scores, -1));
  auto const mixed = torch::matmul(weights, split_heads(value, options_.heads));
  return project(output_, merge_heads(mixed));
}

Tensor split_heads(Tensor const& x, std::int64_t heads) {
  return x.view({x.size(0), x.size(1), heads, -1}).transpose(1, 2);
}

Tensor merge_heads(Tensor const& x) {
  return x.transpose(1, 2).contiguous().flatten(2);
}

Tensor causal_mask(std::int64_t length) {
  return torch::full({1, 1, length, length}, hidden_score).triu(1);
}

Tensor padding_mask(Tensor const& present, Tensor const& like) {
  return torch::rsub(present.unsqueeze(1).unsqueeze(1).to(like.dtype()), 1) * hidden_score;
}

Tensor sinusoidal_positions(std::int64_t length, std::int64_t width, Sinusoid layout) {
  auto const even = torch::arange(0, width, 2).to(torch::kFloat);
  auto const frequencies = torch::exp(even * (-std::log(10000.0) / static_cast<double>(width)));
  auto const angles = torch::arange(length).unsqueeze(1) * frequencies;
  if (layout == Sinusoid::halves) return torch::cat({angles.sin(), angles.cos()}, 1);
  return torch::stack({angles.sin(), angles.cos()}, 2).view({length, width});
}

Tensor gelu(Tensor const& x) {
  return torch::gelu(x);
}

Tensor gelu_by_tanh(Tensor const& x) {
  return 0.5 * x * (1 + torch::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * torch::pow(x, 3))));
}

RmsNormImpl::RmsNormImpl(std::int64_t width, double epsilon)
    : weight_(register_parameter("weight", torch::ones(width))),
      epsilon_(epsilon) {}

Tensor RmsNormImpl::forward(Tensor const& x) {
  auto const square = x.to(torch::kFloat).pow(2).mean(-1, true);
  return weight_ * (x * torch::rsqrt(square + epsilon_)).to(weight_.scalar_type());
}

namespace {

nn::AnyModule make_norm(TransformerOptions const& options) {
  auto const width = options.attention.width;
  if (options.norm == Norm::rms) return nn::AnyModule(RmsNorm(width, options.norm_epsilon));
  return nn::AnyModule(nn::LayerNorm(nn::LayerNormOptions({width}).eps(options.norm_epsilon)));
}

nn::Linear make_feed(TransformerOptions const& options, std::int64_t in, std::int64_t out) {
  return nn::Linear(nn::LinearOptions(in, out).bias(options.feed_bias));
}

}  // namespace

TransformerLayerImpl::TransformerLayerImpl(TransformerOptions const& options)
    : TransformerLayerImpl(options, nn::AnyModule(Attention(options.attention))) {}

TransformerLayerImpl::TransformerLayerImpl(TransformerOptions const& options,
                                           nn::AnyModule self_attention)
    : options_(options),
      attention_(std::move(self_attention)),
      attention_norm_(make_norm(options)),
      up_(register_module("up", make_feed(options, options.attention.width, options.feed_width))),
      down_(
          register_module("down", make_feed(options, options.feed_width, options.attention.width))),
      feed_norm_(make_norm(options)),
      dropout_(register_module("dropout", nn::Dropout(options.dropout))),
      inner_dropout_(register_module("inner_dropout", nn::Dropout(options.inner_dropout))) {
  register_module("attention_norm", attention_norm_.ptr());
  register_module("feed_norm", feed_norm_.ptr());
  register_module("attention", attention_.ptr());
  if (!options.cross) return;
  cross_ = register_module("cross", Attention(options.attention));
  cross_norm_ = make_norm(options);
  register_module("cross_norm", cross_norm_.ptr());
}

template <class Sublayer>
Tensor TransformerLayerImpl::add(Tensor const& x, nn::AnyModule& norm, Sublayer sublayer) {
  if (options_.norm_first) return x + sublayer(norm.forward(x));
  return norm.forward(Tensor(x + sublayer(x)));
}

Tensor TransformerLayerImpl::drop_attended(Tensor const& x) {
  return options_.drop_attended ? dropout_(x) : x;
}

Tensor TransformerLayerImpl::forward(Tensor const& x, Tensor const& mask) {
  return decode(x, mask, {}, {});
}

Tensor TransformerLayerImpl::decode(Tensor const& x,
                                    Tensor const& mask,
                                    Tensor const& memory,
                                    Tensor const& memory_mask) {
  auto y = add(x, attention_norm_, [&](Tensor const& input) {
    return drop_attended(attention_.forward(input, mask));
  });
  if (memory.defined()) {
    y = add(y, cross_norm_, [&](Tensor const& input) {
      return drop_attended(cross_->attend(input, memory, memory_mask));
    });
  }
  return add(y, feed_norm_, [&](Tensor const& input) {
    return dropout_(project(down_, inner_dropout_(options_.activation(project(up_, input)))));
  });
}

TransformerStackImpl::TransformerStackImpl(TransformerOptions const& options, std::int64_t depth) {
  for (std::int64_t layer = 0; layer < depth; ++layer)
    layers_.emplace_back(
        register_module("layer" + std::to_string(layer), TransformerLayer(options)));
}

Tensor TransformerStackImpl::forward(Tensor const& x, Tensor const& mask) {
  return decode(x, mask, {}, {});
}

Tensor TransformerStackImpl::decode(Tensor const& x,
                                    Tensor const& mask,
                                    Tensor const& memory,
                                    Tensor const& memory_mask) {
  auto y = x;
  for (auto& layer : layers_)
    y = layer->decode(y, mask, memory, memory_mask);
  return y;
}

void initialise_transformer(nn::Module& network, double deviation) {
  torch::NoGradGuard const no_gradients;
  for (auto const& module : network.modules(false)) {
    if (auto* linear = module->as<nn::Linear>()) {
      linear->weight.normal_(0, deviation);
      if (linear->bias.defined()) linear->bias.zero_();
    } else if (auto* embedding = module->as<nn::Embedding>()) {
      embedding->weight.normal_(0, deviation);
      if (auto const padding = embedding->options.padding_idx())
        embedding->weight[*padding].zero_();
    }
  }
}

}  // namespace torchwatch::suite
