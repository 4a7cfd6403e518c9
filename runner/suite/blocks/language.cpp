#include "runner/suite/blocks/language.h"

#include <utility>
#include <vector>

#include "runner/suite/supervised.h"

namespace torchwatch::suite {

using torch::Tensor;
using torch::indexing::None;
using torch::indexing::Slice;
namespace nn = torch::nn;

namespace {

nn::LayerNorm make_norm(std::int64_t width, double epsilon) {
  return nn::LayerNorm(nn::LayerNormOptions({width}).eps(epsilon));
}

}  // namespace

nn::Embedding make_word_table(EmbeddingOptions const& options) {
  nn::EmbeddingOptions table(options.words, options.width);
  if (options.padding_word >= 0) table.padding_idx(options.padding_word);
  return nn::Embedding(table);
}

TextEmbeddingImpl::TextEmbeddingImpl(EmbeddingOptions const& options)
    : TextEmbeddingImpl(options, make_word_table(options)) {
  register_module("words", words_);
}

TextEmbeddingImpl::TextEmbeddingImpl(EmbeddingOptions const& options, nn::Embedding words)
    : words_(std::move(words)),
      positions_(register_module(
          "positions", nn::Embedding(options.first_position + options.positions, options.width))),
      dropout_(register_module("dropout", nn::Dropout(options.dropout))),
      places_(register_buffer(
          "places",
          torch::arange(options.first_position, options.first_position + options.positions)
              .unsqueeze(0))) {
  if (options.segments > 0) {
    segments_ = register_module("segments", nn::Embedding(options.segments, options.width));
    first_segment_ = register_buffer("first_segment", torch::zeros_like(places_));
  }
  if (options.norm) norm_ = register_module("norm", make_norm(options.width, options.norm_epsilon));
}

Tensor TextEmbeddingImpl::forward(Tensor const& words,
                                  Tensor const& segments,
                                  Tensor const& places) {
  auto const length = words.size(1);
  auto x = words_(words);
  if (segments_) {
    auto const first = first_segment_.narrow(1, 0, length).expand(words.sizes());
    x = x + segments_(segments.defined() ? segments : first);
  }
  x = x + positions_(places.defined() ? places : places_.narrow(1, 0, length));
  return dropout_(norm_ ? norm_(x) : x);
}

MaskedWordHeadImpl::MaskedWordHeadImpl(std::int64_t width,
                                       EmbeddingOptions const& words,
                                       Activation* activation,
                                       double norm_epsilon)
    : layer_(register_module("layer", nn::Linear(width, words.width))),
      activation_(activation),
      norm_(register_module("norm", make_norm(words.width, norm_epsilon))),
      bias_(register_parameter("bias", torch::zeros(words.words))) {}

Tensor MaskedWordHeadImpl::forward(Tensor const& x, Tensor const& table) {
  auto const y = torch::linear(x, layer_->weight, layer_->bias);
  return torch::linear(norm_(activation_(y)), table, bias_);
}

std::unique_ptr<Workload> make_language_model(Setup const& setup,
                                              LanguageTask const& task,
                                              std::shared_ptr<nn::Module> network,
                                              std::function<LanguageModel> forward) {
  setup.place(*network);
  auto const draw = [&] {
    return setup.place(torch::randint(task.words, {setup.batch, task.length}, torch::kLong));
  };
  auto const words = draw();
  auto const labels = setup.test == Test::train ? draw() : Tensor();

  Supervised parts;
  parts.forward = [forward = std::move(forward), words, labels] {
    return std::vector<Tensor>{forward(words, labels)};
  };
  parts.loss = [labels, shifted = task.shifted](auto const& outputs) {
    auto const logits = shifted ? outputs[0].index({Slice(), Slice(None, -1)}) : outputs[0];
    auto const truth = shifted ? labels.index({Slice(), Slice(1)}) : labels;
    return nn::functional::cross_entropy(logits.flatten(0, 1), truth.flatten());
  };
  parts.optimizer = make_adam(*network);
  parts.network = std::move(network);
  return make_supervised(setup.test, std::move(parts));
}

}  // namespace torchwatch::suite
