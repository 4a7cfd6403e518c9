#include "runner/suite/blocks/masked_words.h"

#include <utility>

#include "runner/suite/blocks/language.h"

namespace torchwatch::suite {

using torch::Tensor;
namespace nn = torch::nn;

namespace {

nn::LayerNorm make_norm(WordEmbeddingOptions const& options) {
  return nn::LayerNorm(nn::LayerNormOptions({options.width}).eps(options.norm_epsilon));
}

nn::EmbeddingOptions padded(std::int64_t rows, WordEmbeddingOptions const& options) {
  return nn::EmbeddingOptions(rows, options.width).padding_idx(options.padding);
}

nn::Embedding make_positions(WordEmbeddingOptions const& options) {
  if (options.padding_has_a_place) return nn::Embedding(padded(options.positions, options));
  return nn::Embedding(options.positions, options.width);
}

}  // namespace

WordEmbeddingImpl::WordEmbeddingImpl(WordEmbeddingOptions const& options)
    : norm_last_(options.norm_last),
      words_(register_module("words", nn::Embedding(padded(options.words, options)))),
      positions_(register_module("positions", make_positions(options))),
      segments_(register_module("segments", nn::Embedding(options.segments, options.width))),
      norm_(register_module("norm", make_norm(options))),
      dropout_(register_module("dropout", nn::Dropout(options.dropout))) {}

Tensor WordEmbeddingImpl::forward(Tensor const& words, Tensor const& places) {
  auto const sum = words_(words) + segments_(torch::zeros_like(words)) + positions_(places);
  return norm_last_ ? norm_(dropout_(sum)) : dropout_(norm_(sum));
}

WordHeadImpl::WordHeadImpl(WordEmbeddingOptions const& options, Tensor (*activation)(Tensor const&))
    : activation_(activation),
      dense_(register_module("dense", nn::Linear(options.width, options.width))),
      norm_(register_module("norm", make_norm(options))),
      bias_(register_parameter("bias", torch::zeros(options.words))) {}

Tensor WordHeadImpl::forward(Tensor const& x, Tensor const& table) {
  return nn::functional::linear(norm_(activation_(dense_(x))), table, bias_);
}

std::unique_ptr<Workload> make_word_guesser(
    Setup const& setup,
    Text const& text,
    std::shared_ptr<nn::Module> network,
    std::function<std::vector<Tensor>(Tensor const& words)> forward) {
  auto const logits_of = [forward = std::move(forward)](Tensor const& words, auto const&) {
    return forward(words).front();
  };
  return make_language_model(setup, {text.length, text.words}, std::move(network), logits_of);
}

}  // namespace torchwatch::suite
