// BART: Lewis et al., 2019 (arXiv 1910.13461), after BartForConditionalGeneration of
// huggingface/transformers with the configuration facebook/bart-base, as TorchBench's hf_Bart runs
// it: encoder, decoder and head share one table of words. Input: words [batch, 512] of 50265, and
// as many labels; the decoder reads the labels one place later, in evaluation the words. Smoke: 32
// of 1000 words, width 64, two layers each.

#include "runner/suite/blocks/language.h"
#include "runner/suite/blocks/transformer.h"
#include "runner/suite/workload.h"

namespace torchwatch::suite::hf_Bart {
namespace {

using torch::Tensor;
namespace nn = torch::nn;

constexpr double norm_epsilon = 1e-5;
constexpr double dropout = 0.1;
constexpr std::int64_t padding_word = 1;
constexpr std::int64_t start_word = 2;
constexpr std::int64_t unlabelled = -100;

struct Sizes {
  std::int64_t words, longest, length, width, heads, layers;
};

EmbeddingOptions embedding_options(Sizes const& sizes) {
  EmbeddingOptions options;
  options.words = sizes.words;
  options.positions = sizes.longest;
  options.first_position = 2;
  options.width = sizes.width;
  options.padding_word = padding_word;
  options.norm_epsilon = norm_epsilon;
  options.dropout = dropout;
  return options;
}

TransformerOptions layer_options(Sizes const& sizes, bool cross) {
  TransformerOptions options;
  options.attention.width = sizes.width;
  options.attention.heads = sizes.heads;
  options.attention.scale_queries = true;
  options.attention.dropout = dropout;
  options.feed_width = 4 * sizes.width;
  options.dropout = dropout;
  options.inner_dropout = dropout;
  options.norm_epsilon = norm_epsilon;
  options.cross = cross;
  return options;
}

class BartImpl : public nn::Module {
 public:
  explicit BartImpl(Sizes const& sizes)
      : words_(register_module("words", make_word_table(embedding_options(sizes)))),
        encoder_embedding_(
            register_module("encoder_embedding", TextEmbedding(embedding_options(sizes), words_))),
        decoder_embedding_(
            register_module("decoder_embedding", TextEmbedding(embedding_options(sizes), words_))),
        encoder_(register_module("encoder",
                                 TransformerStack(layer_options(sizes, false), sizes.layers))),
        decoder_(
            register_module("decoder", TransformerStack(layer_options(sizes, true), sizes.layers))),
        later_(register_buffer("later", causal_mask(sizes.length))),
        logits_bias_(register_buffer("logits_bias", torch::zeros({1, sizes.words}))) {
    initialise_transformer(*this);
  }

  Tensor forward(Tensor const& words, Tensor const& decoder_words) {
    auto const memory = encoder_(encoder_embedding_->forward(words), Tensor());
    auto const x = decoder_->decode(decoder_embedding_->forward(decoder_words), later_, memory, {});
    return torch::linear(x, words_->weight) + logits_bias_;
  }

 private:
  nn::Embedding words_;
  TextEmbedding encoder_embedding_, decoder_embedding_;
  TransformerStack encoder_, decoder_;
  Tensor later_, logits_bias_;
};

TORCH_MODULE(Bart);

/// Returns the words that the decoder has read when it predicts each label.
Tensor shift_right(Tensor const& labels) {
  auto words = labels.new_zeros(labels.sizes());
  words.slice(1, 1).copy_(labels.slice(1, 0, -1).clone());
  words.select(1, 0).fill_(start_word);
  return words.masked_fill_(words == unlabelled, padding_word);
}

}  // namespace

std::unique_ptr<Workload> make_hf_Bart(Setup const& setup) {
  auto const sizes = setup.pick(Sizes{50265, 1024, 512, 768, 12, 6}, Sizes{1000, 32, 32, 64, 2, 2});
  Bart network(sizes);
  auto const forward = [network](Tensor const& words, Tensor const& labels) mutable {
    return network->forward(words, labels.defined() ? shift_right(labels) : words);
  };
  return make_language_model(setup, {sizes.length, sizes.words}, network.ptr(), forward);
}

}  // namespace torchwatch::suite::hf_Bart
