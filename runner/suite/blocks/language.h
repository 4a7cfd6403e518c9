#pragma once

/// Parts that language models share: word embeddings, the head that predicts masked words, and
/// TorchBench's benchmark of each of Hugging Face's models.

#include <cstdint>
#include <functional>
#include <memory>

#include <torch/torch.h>

#include "runner/suite/layers.h"
#include "runner/suite/workload.h"

namespace torchwatch::suite {

struct EmbeddingOptions {
  std::int64_t words = 0;
  std::int64_t positions = 512;     ///< the longest text
  std::int64_t first_position = 0;  ///< rows that precede the first place's
  std::int64_t segments = 0;        ///< 0: no segments
  std::int64_t width = 0;
  std::int64_t padding_word = -1;  ///< -1: none
  bool norm = true;
  double norm_epsilon = 1e-12;
  double dropout = 0;
};

/// The sum of the learned vectors of a word, its segment and its place; normalised.
class TextEmbeddingImpl : public torch::nn::Module {
 public:
  explicit TextEmbeddingImpl(EmbeddingOptions const& options);

  /// Uses a table of words that another module owns.
  TextEmbeddingImpl(EmbeddingOptions const& options, torch::nn::Embedding words);

  /// Words [batch, length] -> [batch, length, width]. `segments` and `places` (rows of their table)
  /// are as `words`; undefined: all of the first segment; one place after another.
  torch::Tensor forward(torch::Tensor const& words,
                        torch::Tensor const& segments = {},
                        torch::Tensor const& places = {});

  /// [words, width], for a head that shares it.
  torch::Tensor const& table() const { return words_->weight; }

 private:
  torch::nn::Embedding words_, positions_;
  torch::nn::Embedding segments_{nullptr};
  torch::nn::LayerNorm norm_{nullptr};
  torch::nn::Dropout dropout_;
  torch::Tensor places_, first_segment_;
};

TORCH_MODULE(TextEmbedding);

torch::nn::Embedding make_word_table(EmbeddingOptions const& options);

/// Predicts masked words: a layer, normalised, and its similarity to each word of a table.
class MaskedWordHeadImpl : public torch::nn::Module {
 public:
  /// From `width` to the width of `words`' vectors.
  MaskedWordHeadImpl(std::int64_t width,
                     EmbeddingOptions const& words,
                     Activation* activation,
                     double norm_epsilon);

  /// [batch, length, width] -> logits [batch, length, words]. `table`: the embedding's.
  torch::Tensor forward(torch::Tensor const& x, torch::Tensor const& table);

 private:
  torch::nn::Linear layer_;
  Activation* activation_;
  torch::nn::LayerNorm norm_;
  torch::Tensor bias_;
};

TORCH_MODULE(MaskedWordHead);

/// Random words, [batch, length], and as many random labels.
struct LanguageTask {
  std::int64_t length = 0;
  std::int64_t words = 0;
  bool shifted = false;  ///< the output at a place predicts the label of the next place
};

/// Makes logits [batch, length, words] of words. `labels` is undefined in evaluation.
using LanguageModel = torch::Tensor(torch::Tensor const& words, torch::Tensor const& labels);

/// Cross entropy of logits and labels, Adam.
std::unique_ptr<Workload> make_language_model(Setup const& setup,
                                              LanguageTask const& task,
                                              std::shared_ptr<torch::nn::Module> network,
                                              std::function<LanguageModel> forward);

/// Makes it for a module holder whose `forward` takes only words.
template <class Network>
std::unique_ptr<Workload> make_language_model(Setup const& setup,
                                              LanguageTask const& task,
                                              Network network) {
  return make_language_model(
      setup, task, network.ptr(), [network](torch::Tensor const& words, auto const&) mutable {
        return network->forward(words);
      });
}

}  // namespace torchwatch::suite
