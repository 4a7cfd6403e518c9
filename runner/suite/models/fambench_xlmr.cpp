// XLM-R large: Conneau et al., 2019 (arXiv 1911.02116), after fairseq's XLMRModel as FAMBench and
// TorchBench's fambench_xlmr run it: features of all words, no head (its parameters are there, but
// idle). Input: words [batch, 64] of 250000, none of them padding, so what fairseq does for padding
// alone is left out, and so is its fused operator for inference. Train: cross entropy of the
// features with random numbers [batch, 64, 1024], whose second dimension is taken for the classes,
// as upstream has it. Smoke: 16 of 1000 words, width 64, two layers, a higher rate.

#include <utility>

#include "runner/suite/blocks/language.h"
#include "runner/suite/blocks/transformer.h"
#include "runner/suite/supervised.h"

namespace torchwatch::suite {
namespace {

using torch::Tensor;
namespace nn = torch::nn;

constexpr double norm_epsilon = 1e-5;
constexpr double dropout = 0.1;
constexpr std::int64_t padding_word = 1;

struct Sizes {
  std::int64_t words, drawn_words, longest, length, width, heads, layers;
};

EmbeddingOptions embedding_options(Sizes const& sizes) {
  EmbeddingOptions options;
  options.words = sizes.words;
  options.positions = sizes.longest;
  options.first_position = padding_word + 1;
  options.width = sizes.width;
  options.padding_word = padding_word;
  options.norm_epsilon = norm_epsilon;
  options.dropout = dropout;
  return options;
}

TransformerOptions layer_options(Sizes const& sizes) {
  TransformerOptions options;
  options.attention.width = sizes.width;
  options.attention.heads = sizes.heads;
  options.attention.scale_queries = true;
  options.attention.dropout = dropout;
  options.feed_width = 4 * sizes.width;
  options.dropout = dropout;
  options.norm_epsilon = norm_epsilon;
  return options;
}

class XlmrImpl : public nn::Module {
 public:
  explicit XlmrImpl(Sizes const& sizes)
      : embedding_(register_module("embedding", TextEmbedding(embedding_options(sizes)))),
        encoder_(register_module("encoder", TransformerStack(layer_options(sizes), sizes.layers))),
        head_(register_module(
            "head", MaskedWordHead(sizes.width, embedding_options(sizes), &gelu, norm_epsilon))) {
    initialise_transformer(*this);
  }

  /// Words [batch, length] -> features [batch, length, width].
  Tensor forward(Tensor const& words) {
    return encoder_(embedding_->forward(words, {}, places_of(words)), Tensor());
  }

 private:
  /// Places are counted without padding.
  static Tensor places_of(Tensor const& words) {
    auto const present = words.ne(padding_word).to(torch::kInt);
    return (present.cumsum(1).to(torch::kInt) * present).to(torch::kLong) + padding_word;
  }

  TextEmbedding embedding_;
  TransformerStack encoder_;
  MaskedWordHead head_;
};

TORCH_MODULE(Xlmr);

}  // namespace

std::unique_ptr<Workload> make_fambench_xlmr(Setup const& setup) {
  auto const sizes =
      setup.pick(Sizes{250002, 250000, 512, 64, 1024, 16, 24}, Sizes{1000, 1000, 16, 16, 64, 2, 2});
  Xlmr network(sizes);
  setup.place(*network);
  auto const words = setup.place(torch::randint(
      padding_word + 1, sizes.drawn_words, {setup.batch, sizes.length}, torch::kInt));

  Supervised parts;
  parts.network = network.ptr();
  parts.forward = [network, words]() mutable {
    return std::vector<Tensor>{network->forward(words)};
  };
  if (setup.test == Test::train) {
    auto const truth = setup.place(torch::rand({setup.batch, sizes.length, sizes.width}));
    parts.loss = [truth](auto const& outputs) {
      return nn::functional::cross_entropy(outputs[0], truth);
    };
    parts.optimizer = make_sgd(*network, setup.pick(0.01, 0.1));
  }
  return make_supervised(setup.test, std::move(parts));
}

}  // namespace torchwatch::suite
