// ALBERT: Lan et al., 2019 (arXiv 1909.11942), after AlbertForMaskedLM of huggingface/transformers
// with the configuration albert-base-v2, as TorchBench's hf_Albert runs it: one layer applied
// twelve times, words of width 128 projected to 768, no dropout. Input: words and labels [batch,
// 512] of 30000. Smoke: 32 of 1000 words, words of 16 projected to 64, applied three times.

#include "runner/suite/blocks/language.h"
#include "runner/suite/blocks/transformer.h"
#include "runner/suite/workload.h"

namespace torchwatch::suite::hf_Albert {
namespace {

using torch::Tensor;
namespace nn = torch::nn;

constexpr double norm_epsilon = 1e-12;
constexpr double head_norm_epsilon = 1e-5;

struct Sizes {
  std::int64_t words, length, word_width, width, heads, repeats;
};

EmbeddingOptions embedding_options(Sizes const& sizes) {
  EmbeddingOptions options;
  options.words = sizes.words;
  options.positions = sizes.length;
  options.segments = 2;
  options.width = sizes.word_width;
  options.padding_word = 0;
  options.norm_epsilon = norm_epsilon;
  return options;
}

TransformerOptions layer_options(Sizes const& sizes) {
  TransformerOptions options;
  options.attention.width = sizes.width;
  options.attention.heads = sizes.heads;
  options.feed_width = 4 * sizes.width;
  options.activation = &gelu_by_tanh;
  options.norm_epsilon = norm_epsilon;
  return options;
}

class AlbertImpl : public nn::Module {
 public:
  explicit AlbertImpl(Sizes const& sizes)
      : repeats_(sizes.repeats),
        embedding_(register_module("embedding", TextEmbedding(embedding_options(sizes)))),
        projection_(register_module("projection", nn::Linear(sizes.word_width, sizes.width))),
        layer_(register_module("layer", TransformerLayer(layer_options(sizes)))),
        head_(register_module(
            "head",
            MaskedWordHead(
                sizes.width, embedding_options(sizes), &gelu_by_tanh, head_norm_epsilon))) {
    initialise_transformer(*this);
  }

  Tensor forward(Tensor const& words) {
    auto x = projection_(embedding_->forward(words));
    auto const mask = padding_mask(torch::ones(words.sizes(), x.options()), x);
    for (std::int64_t i = 0; i < repeats_; ++i)
      x = layer_(x, mask);
    return head_(x, embedding_->table());
  }

 private:
  std::int64_t repeats_;
  TextEmbedding embedding_;
  nn::Linear projection_;
  TransformerLayer layer_;
  MaskedWordHead head_;
};

TORCH_MODULE(Albert);

}  // namespace

std::unique_ptr<Workload> make_hf_Albert(Setup const& setup) {
  auto const sizes = setup.pick(Sizes{30000, 512, 128, 768, 12, 12}, Sizes{1000, 32, 16, 64, 2, 3});
  return make_language_model(setup, {sizes.length, sizes.words}, Albert(sizes));
}

}  // namespace torchwatch::suite::hf_Albert
