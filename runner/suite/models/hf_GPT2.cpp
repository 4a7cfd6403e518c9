// GPT-2: Radford et al., "Language Models are Unsupervised Multitask Learners", 2019, after
// GPT2LMHeadModel of huggingface/transformers as TorchBench's hf_GPT2 and hf_GPT2_large run it: the
// head shares the table of words. Linear layers hold transposed what the reference calls Conv1D:
// the same product. Input: words and labels [batch, 512] of 50257 in training; words [batch, 1024]
// in evaluation, on a CPU too, where upstream cuts the smaller model's to 256. Smoke: at most 32 of
// 1000 words, width 64, two or three layers.

#include "runner/suite/blocks/language.h"
#include "runner/suite/blocks/transformer.h"
#include "runner/suite/workload.h"

namespace torchwatch::suite::hf_GPT2 {
namespace {

using torch::Tensor;
namespace nn = torch::nn;

constexpr double dropout = 0.1;

struct Sizes {
  std::int64_t words, longest, width, heads, layers;
};

EmbeddingOptions embedding_options(Sizes const& sizes) {
  EmbeddingOptions options;
  options.words = sizes.words;
  options.positions = sizes.longest;
  options.width = sizes.width;
  options.norm = false;
  options.dropout = dropout;
  return options;
}

/// `later`: what a place must not look at.
Tensor hide_later(Tensor const& scores, Tensor const& later) {
  return torch::where(later, torch::full({}, hidden_score, scores.options()), scores);
}

TransformerOptions layer_options(Sizes const& sizes) {
  TransformerOptions options;
  options.attention.width = sizes.width;
  options.attention.heads = sizes.heads;
  options.attention.fused = true;
  options.attention.dropout = dropout;
  options.attention.masking = &hide_later;
  options.feed_width = 4 * sizes.width;
  options.activation = &gelu_by_tanh;
  options.dropout = dropout;
  options.norm_first = true;
  return options;
}

class Gpt2Impl : public nn::Module {
 public:
  explicit Gpt2Impl(Sizes const& sizes)
      : embedding_(register_module("embedding", TextEmbedding(embedding_options(sizes)))),
        decoder_(register_module("decoder", TransformerStack(layer_options(sizes), sizes.layers))),
        norm_(register_module("norm", nn::LayerNorm(nn::LayerNormOptions({sizes.width})))),
        later_(register_buffer("later", causal_mask(sizes.longest) < 0)) {
    initialise_transformer(*this);
  }

  Tensor forward(Tensor const& words) {
    auto const length = words.size(1);
    auto const later = later_.narrow(2, 0, length).narrow(3, 0, length);
    auto const x = norm_(decoder_(embedding_->forward(words), later));
    return torch::linear(x, embedding_->table());
  }

 private:
  TextEmbedding embedding_;
  TransformerStack decoder_;
  nn::LayerNorm norm_;
  Tensor later_;
};

TORCH_MODULE(Gpt2);

std::unique_ptr<Workload> make(Setup const& setup, Sizes const& sizes) {
  auto const length = setup.test == Test::train ? sizes.longest / 2 : sizes.longest;
  return make_language_model(setup, {length, sizes.words, true}, Gpt2(sizes));
}

}  // namespace

std::unique_ptr<Workload> make_hf_GPT2(Setup const& setup) {
  return make(setup, setup.pick(Sizes{50257, 1024, 768, 12, 12}, Sizes{1000, 32, 64, 2, 2}));
}

std::unique_ptr<Workload> make_hf_GPT2_large(Setup const& setup) {
  return make(setup, setup.pick(Sizes{50257, 1024, 1280, 20, 36}, Sizes{1000, 32, 64, 4, 3}));
}

}  // namespace torchwatch::suite::hf_GPT2
