// T5: Raffel et al., "Exploring the Limits of Transfer Learning with a Unified Text-to-Text
// Transformer", 2019 (arXiv 1910.10683), after Hugging Face transformers as TorchBench runs
// t5-small, t5-base and t5-large. Encoder and decoder normalise by the root mean square before each
// sublayer and add a learned bias by relative position, shared by all layers, to unscaled scores;
// one table of words serves input and output. Input: words [batch, 2048] (t5-large: 512) of 32128,
// the same for both sides. Smoke: 2 layers of width 64 with 2 heads, 32 of 1000 words. There is no
// training, as upstream has none. Left out: what half precision may make infinite is not clamped,
// because that looks at every layer's output from the host; keys and values are not kept for later
// words.

#include <cmath>
#include <string>
#include <vector>

#include "runner/suite/blocks/transformer.h"
#include "runner/suite/supervised.h"

namespace torchwatch::suite::hf_T5 {
namespace {

using torch::Tensor;
namespace nn = torch::nn;

constexpr std::int64_t position_buckets = 32;
constexpr double farthest = 128;  // positions beyond share the last bucket
constexpr double dropout = 0.1;
constexpr double norm_epsilon = 1e-6;

struct Sizes {
  std::int64_t width, heads, head_width, feed_width, layers;
  std::int64_t length;
  std::int64_t words = 32128;
};

enum class Side { encoder, decoder };

TransformerOptions layer_options(Sizes const& sizes, Side side) {
  TransformerOptions options;
  options.attention.width = sizes.width;
  options.attention.heads = sizes.heads;
  options.attention.head_width = sizes.head_width;
  options.attention.bias = false;
  options.attention.scaled = false;
  options.attention.dropout = dropout;
  options.feed_width = sizes.feed_width;
  options.feed_bias = false;
  options.activation = &torch::relu;
  options.dropout = dropout;
  options.inner_dropout = dropout;
  options.norm = Norm::rms;
  options.norm_epsilon = norm_epsilon;
  options.norm_first = true;
  options.cross = side == Side::decoder;
  return options;
}

/// The bucket of each distance: near ones have their own, farther ones share in logarithmic steps.
/// An encoder spends half of the buckets on places to come, a decoder none.
Tensor buckets_of(Tensor const& distance, Side side) {
  bool const both = side == Side::encoder;
  std::int64_t const buckets = both ? position_buckets / 2 : position_buckets;
  std::int64_t const near = buckets / 2;
  auto const first = both ? (distance > 0).to(torch::kLong) * buckets : torch::zeros_like(distance);
  auto const away = both ? distance.abs() : -torch::min(distance, torch::zeros_like(distance));

  auto const scale =
      static_cast<double>(buckets - near) / std::log(farthest / static_cast<double>(near));
  auto const ratio = away.to(torch::kFloat) / static_cast<double>(near);
  auto const shared = near + (torch::log(ratio) * scale).to(torch::kLong);
  auto const bounded = torch::min(shared, torch::full_like(shared, buckets - 1));
  return first + torch::where(away < near, away, bounded);
}

class StackImpl : public nn::Module {
 public:
  StackImpl(Sizes const& sizes, Side side)
      : side_(side),
        heads_(sizes.heads),
        distances_(register_module("distances", nn::Embedding(position_buckets, sizes.heads))),
        norm_(register_module("norm", RmsNorm(sizes.width, norm_epsilon))),
        dropout_(register_module("dropout", nn::Dropout(dropout))) {
    if (side == Side::decoder) causal_ = register_buffer("causal", causal_mask(sizes.length));
    for (std::int64_t layer = 0; layer < sizes.layers; ++layer)
      layers_.emplace_back(register_module("layer" + std::to_string(layer),
                                           TransformerLayer(layer_options(sizes, side))));
  }

  /// `x`: [batch, length, width]. An encoder has no memory.
  Tensor forward(Tensor const& x, Tensor const& memory) {
    auto const mask = bias(x) + (side_ == Side::decoder ? causal_ : padding_mask(all_of(x), x));
    auto const memory_mask = memory.defined() ? mask_of(x, memory) : Tensor();
    auto y = dropout_(x);
    for (auto& layer : layers_)
      y = layer->decode(y, mask, memory, memory_mask);
    return dropout_(norm_(y));
  }

 private:
  static Tensor all_of(Tensor const& x) { return torch::ones({x.size(0), x.size(1)}, x.options()); }

  /// Without a bias, but as large: [batch, heads, length, memory length].
  Tensor mask_of(Tensor const& x, Tensor const& memory) const {
    auto const no_bias = torch::zeros({1, heads_, x.size(1), memory.size(1)}, x.options());
    return no_bias + padding_mask(all_of(memory), memory);
  }

  /// [1, heads, length, length], by how far the column's place is behind the row's.
  Tensor bias(Tensor const& x) {
    auto const place = torch::arange(x.size(1), x.options().dtype(torch::kLong));
    auto const distance = place.unsqueeze(0) - place.unsqueeze(1);
    return distances_(buckets_of(distance, side_)).permute({2, 0, 1}).unsqueeze(0);
  }

  Side side_;
  std::int64_t heads_;
  nn::Embedding distances_;
  std::vector<TransformerLayer> layers_;
  RmsNorm norm_;
  nn::Dropout dropout_;
  Tensor causal_;
};

TORCH_MODULE(Stack);

bool ends_with(std::string const& text, std::string const& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

/// Deviations as in the reference: scores keep their size although nothing divides them.
void initialise(nn::Module& network, Sizes const& sizes) {
  torch::NoGradGuard const no_gradients;
  auto const root = [](std::int64_t width) {
    return 1 / std::sqrt(static_cast<double>(width));
  };
  for (auto const& parameter : network.named_parameters()) {
    auto weight = parameter.value();
    if (weight.dim() < 2) continue;
    if (ends_with(parameter.key(), "words.weight"))
      weight.normal_();
    else if (ends_with(parameter.key(), "distances.weight"))
      weight.normal_(0, root(sizes.width));
    else if (ends_with(parameter.key(), "query.weight"))
      weight.normal_(0, root(sizes.width) * root(sizes.head_width));
    else
      weight.normal_(0, root(weight.size(1)));
  }
}

class T5Impl : public nn::Module {
 public:
  explicit T5Impl(Sizes const& sizes)
      : scale_(1 / std::sqrt(static_cast<double>(sizes.width))),
        words_(register_module("words", nn::Embedding(sizes.words, sizes.width))),
        encoder_(register_module("encoder", Stack(sizes, Side::encoder))),
        decoder_(register_module("decoder", Stack(sizes, Side::decoder))) {
    initialise(*this, sizes);
  }

  /// Logits of each next word, [batch, length, words].
  Tensor forward(Tensor const& source, Tensor const& target) {
    auto const memory = encoder_(words_(source), Tensor());
    auto const x = decoder_(words_(target), memory);
    return torch::linear(x * scale_, words_->weight);
  }

 private:
  double scale_;
  nn::Embedding words_;
  Stack encoder_, decoder_;
};

TORCH_MODULE(T5);

std::unique_ptr<Workload> make_t5(Setup const& setup, Sizes const& full) {
  auto const sizes = setup.pick(full, Sizes{64, 2, 32, 128, 2, 32, 1000});
  T5 network(sizes);
  setup.place(*network);
  auto const words =
      setup.place(torch::randint(sizes.words, {setup.batch, sizes.length}, torch::kLong));

  Supervised parts;
  parts.network = network.ptr();
  parts.forward = [network, words]() mutable {
    return std::vector<Tensor>{network->forward(words, words)};
  };
  return make_supervised(setup.test, std::move(parts));
}

}  // namespace

std::unique_ptr<Workload> make_hf_T5(Setup const& setup) {
  return make_t5(setup, {512, 8, 64, 2048, 6, 2048});
}

std::unique_ptr<Workload> make_hf_T5_base(Setup const& setup) {
  return make_t5(setup, {768, 12, 64, 3072, 12, 2048});
}

std::unique_ptr<Workload> make_hf_T5_large(Setup const& setup) {
  return make_t5(setup, {1024, 16, 64, 4096, 24, 512});
}

}  // namespace torchwatch::suite::hf_T5
