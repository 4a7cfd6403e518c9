#pragma once

/// The embedding and head of a network that predicts masked words, as in BERT: Devlin et al., 2018
/// (arXiv 1810.04805).

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include <torch/torch.h>

#include "runner/suite/workload.h"

namespace torchwatch::suite {

struct WordEmbeddingOptions {
  std::int64_t words = 0;
  std::int64_t positions = 0;
  std::int64_t segments = 1;
  std::int64_t width = 0;
  std::int64_t padding = 0;          ///< the word whose vector is 0
  bool padding_has_a_place = false;  ///< the place of that number has the vector 0 too
  bool norm_last = false;            ///< normalised after dropout instead of before it
  double norm_epsilon = 1e-5;
  double dropout = 0;
};

/// The sum of each word's vector, its place's and the first segment's.
class WordEmbeddingImpl : public torch::nn::Module {
 public:
  explicit WordEmbeddingImpl(WordEmbeddingOptions const& options);

  /// `words`: [batch, length]. `places`: [batch, length] or [1, length]. Returns [batch, length,
  /// width].
  torch::Tensor forward(torch::Tensor const& words, torch::Tensor const& places);

  /// [words, width]
  torch::Tensor const& table() const { return words_->weight; }

 private:
  bool norm_last_;
  torch::nn::Embedding words_, positions_, segments_;
  torch::nn::LayerNorm norm_;
  torch::nn::Dropout dropout_;
};

TORCH_MODULE(WordEmbedding);

/// Computes logits of words with the table of their embeddings.
class WordHeadImpl : public torch::nn::Module {
 public:
  WordHeadImpl(WordEmbeddingOptions const& options,
               torch::Tensor (*activation)(torch::Tensor const&));

  /// [batch, length, width] -> [batch, length, words]
  torch::Tensor forward(torch::Tensor const& x, torch::Tensor const& table);

 private:
  torch::Tensor (*activation_)(torch::Tensor const&);
  torch::nn::Linear dense_;
  torch::nn::LayerNorm norm_;
  torch::Tensor bias_;
};

TORCH_MODULE(WordHead);

/// Random texts of that length out of so many words, and a random word to be guessed at each place.
struct Text {
  std::int64_t words = 0;
  std::int64_t length = 0;
};

/// Cross entropy of the first output of `forward` for texts [batch, length]: logits [batch,
/// length, words]. Adam as TorchBench sets it.
std::unique_ptr<Workload> make_word_guesser(
    Setup const& setup,
    Text const& text,
    std::shared_ptr<torch::nn::Module> network,
    std::function<std::vector<torch::Tensor>(torch::Tensor const& words)> forward);

/// Makes it for a module holder whose `forward` takes only words.
template <class Network>
std::unique_ptr<Workload> make_word_guesser(Setup const& setup, Text const& text, Network network) {
  return make_word_guesser(
      setup, text, network.ptr(), [network](torch::Tensor const& words) mutable {
        return network->forward(words);
      });
}

}  // namespace torchwatch::suite
