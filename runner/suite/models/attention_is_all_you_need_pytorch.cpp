// The Transformer for translation: Vaswani et al., 2017 (arXiv 1706.03762), after
// jadore801120/attention-is-all-you-need-pytorch as TorchBench runs it on Multi30k: 6 layers a side
// of width 512 with 8 heads, three tables of 9521 words that share nothing, and no label smoothing.
// Input: source [batch, 33], target [batch, 31] and the words that follow it. Smoke: 2 layers of
// width 64 with 2 heads, 12 and 10 of 500 words. Upstream's warm-up of the learning rate is left
// out: it changes no operator.

#include <string>
#include <tuple>
#include <vector>

#include "runner/suite/blocks/transformer.h"
#include "runner/suite/supervised.h"

namespace torchwatch::suite::attention_is_all_you_need_pytorch {
namespace {

using torch::Tensor;
using torch::indexing::Slice;
namespace nn = torch::nn;

constexpr std::int64_t padding_word = 1;
constexpr std::int64_t special_words = 4;  // unknown, padding, start, end
constexpr std::int64_t positions = 200;
constexpr double dropout = 0.1;
constexpr double norm_epsilon = 1e-6;
constexpr double logit_scale = 1;  // another one where head and words share a table

struct Sizes {
  std::int64_t words, source_length, target_length;
  std::int64_t width, heads, feed_width, layers;
};

enum class Side { encoder, decoder };

Tensor hide_unseen(Tensor const& scores, Tensor const& visible) {
  return scores.masked_fill(visible == 0, hidden_score);
}

TransformerOptions layer_options(Sizes const& sizes, Side side) {
  TransformerOptions options;
  options.attention.width = sizes.width;
  options.attention.heads = sizes.heads;
  options.attention.bias = false;
  options.attention.scale_queries = true;
  options.attention.dropout = dropout;
  options.attention.masking = &hide_unseen;
  options.feed_width = sizes.feed_width;
  options.activation = &torch::relu;
  options.dropout = dropout;
  options.norm_epsilon = norm_epsilon;
  options.cross = side == Side::decoder;
  return options;
}

/// True for words, false for padding: [batch, 1, 1, length].
Tensor present(Tensor const& words) {
  return (words != padding_word).unsqueeze(-2).unsqueeze(1);
}

class StackImpl : public nn::Module {
 public:
  StackImpl(Sizes const& sizes, Side side)
      : words_(register_module(
            "words",
            nn::Embedding(
                nn::EmbeddingOptions(sizes.words, sizes.width).padding_idx(padding_word)))),
        positions_(register_buffer(
            "positions",
            sinusoidal_positions(positions, sizes.width, Sinusoid::interleaved).unsqueeze(0))),
        norm_(register_module(
            "norm", nn::LayerNorm(nn::LayerNormOptions({sizes.width}).eps(norm_epsilon)))),
        dropout_(register_module("dropout", nn::Dropout(dropout))) {
    if (side == Side::decoder)
      causal_ = register_buffer("causal", causal_mask(sizes.target_length) == 0);
    for (std::int64_t layer = 0; layer < sizes.layers; ++layer)
      layers_.emplace_back(register_module("layer" + std::to_string(layer),
                                           TransformerLayer(layer_options(sizes, side))));
  }

  /// `words`: [batch, length]. An encoder has no memory.
  Tensor forward(Tensor const& words, Tensor const& memory, Tensor const& memory_present) {
    auto const visible = causal_.defined() ? present(words).__and__(causal_) : present(words);
    auto const places = positions_.index({Slice(), Slice({}, words.size(1))}).clone().detach();
    auto x = norm_(dropout_(words_(words) + places));
    for (auto& layer : layers_)
      x = layer->decode(x, visible, memory, memory_present);
    return x;
  }

 private:
  nn::Embedding words_;
  Tensor positions_;
  Tensor causal_;  ///< true where a place may look
  nn::LayerNorm norm_;
  nn::Dropout dropout_;
  std::vector<TransformerLayer> layers_;
};

TORCH_MODULE(Stack);

class TranslatorImpl : public nn::Module {
 public:
  explicit TranslatorImpl(Sizes const& sizes)
      : encoder_(register_module("encoder", Stack(sizes, Side::encoder))),
        decoder_(register_module("decoder", Stack(sizes, Side::decoder))),
        head_(register_module(
            "head", nn::Linear(nn::LinearOptions(sizes.width, sizes.words).bias(false)))) {
    for (auto& parameter : this->parameters())
      if (parameter.dim() > 1) nn::init::xavier_uniform_(parameter);
  }

  /// Logits, [batch * target length, words].
  Tensor forward(Tensor const& source, Tensor const& target) {
    auto const memory = encoder_(source, Tensor(), Tensor());
    auto const x = decoder_(target, memory, present(source));
    return (head_(x) * logit_scale).flatten(0, 1);
  }

 private:
  Stack encoder_, decoder_;
  nn::Linear head_;
};

TORCH_MODULE(Translator);

/// Sentences of different lengths, [batch, length]: the first as long as that, the last half.
Tensor make_sentences(Setup const& setup, std::int64_t words, std::int64_t length) {
  auto const sentences = torch::randint(special_words, words, {setup.batch, length}, torch::kLong);
  auto const lengths = torch::linspace(length, (length + 1) / 2, setup.batch).to(torch::kLong);
  auto const padding = torch::arange(length).unsqueeze(0) >= lengths.unsqueeze(1);
  return sentences.masked_fill(padding, padding_word);
}

/// Upstream asks for both numbers at each step.
void count_right_words(Tensor const& logits, Tensor const& following) {
  auto const there = following.ne(padding_word);
  auto const guessed = std::get<1>(logits.max(1));
  guessed.eq(following).masked_select(there).sum().item();
  there.sum().item();
}

}  // namespace

std::unique_ptr<Workload> make_attention_is_all_you_need_pytorch(Setup const& setup) {
  auto const sizes =
      setup.pick(Sizes{9521, 33, 31, 512, 8, 2048, 6}, Sizes{500, 12, 10, 64, 2, 128, 2});
  Translator network(sizes);
  setup.place(*network);
  auto const source = setup.place(make_sentences(setup, sizes.words, sizes.source_length));
  auto const sentences = setup.place(make_sentences(setup, sizes.words, sizes.target_length + 1));
  auto const target = sentences.index({Slice(), Slice({}, -1)});
  auto const following = sentences.index({Slice(), Slice(1)}).flatten();

  Supervised parts;
  parts.network = network.ptr();
  parts.forward = [network, source, target]() mutable {
    return std::vector<Tensor>{network->forward(source, target)};
  };
  parts.loss = [following](auto const& outputs) {
    auto const summed =
        nn::functional::CrossEntropyFuncOptions().ignore_index(padding_word).reduction(torch::kSum);
    auto loss = nn::functional::cross_entropy(outputs[0], following, summed);
    count_right_words(outputs[0], following);
    return loss;
  };
  parts.optimizer = std::make_unique<torch::optim::Adam>(
      network->parameters(), torch::optim::AdamOptions(5e-4).betas({0.9, 0.98}).eps(1e-9));
  return make_supervised(setup.test, std::move(parts));
}

}  // namespace torchwatch::suite::attention_is_all_you_need_pytorch
