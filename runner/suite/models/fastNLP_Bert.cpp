// Extractive question answering with BERT: Devlin et al., 2018 (arXiv 1810.04805), after
// BertForQuestionAnswering and BertEmbedding of fastNLP 0.6 as TorchBench's fastNLP_Bert runs them
// on texts like those of CMRC2018 (Cui et al., 2018, arXiv 1810.07366). Input: contexts of 457
// characters in training and 456 in evaluation, [SEP], questions of 16; answers are spans of 8. The
// vocabulary is the whole Chinese one of 21128; upstream's holds only the characters that occur.
// Each word is one piece here and stays on the device; upstream looks pieces up on the host, and
// how many there are. It updates and clips gradients at every tenth step alone, here at each.
// Smoke: contexts of 24, questions of 7, 1000 words, width 64, two layers, a higher rate.

#include <cmath>
#include <numbers>
#include <utility>

#include "runner/suite/blocks/language.h"
#include "runner/suite/blocks/transformer.h"
#include "runner/suite/supervised.h"

namespace torchwatch::suite::fastNLP_Bert {
namespace {

using torch::Tensor;
using torch::indexing::Slice;
namespace nn = torch::nn;

constexpr std::int64_t padding_word = 0;
constexpr std::int64_t unknown_word = 100;
constexpr std::int64_t start_word = 101;
constexpr std::int64_t separator = 102;
constexpr std::int64_t first_character = 104;
constexpr std::int64_t answer_length = 8;
constexpr double norm_epsilon = 1e-12;
constexpr double dropout = 0.1;
constexpr double feature_dropout = 0.5;
constexpr double word_dropout = 0.01;
constexpr double gradient_norm = 1;

struct Sizes {
  std::int64_t words, longest, context, question, width, heads, layers;
};

/// GELU operator by operator, as fastNLP has it.
Tensor gelu_by_erf(Tensor const& x) {
  return x * 0.5 * (1 + torch::erf(x / std::numbers::sqrt2));
}

EmbeddingOptions embedding_options(Sizes const& sizes) {
  EmbeddingOptions options;
  options.words = sizes.words;
  options.positions = sizes.longest;
  options.segments = 2;
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
  options.attention.dropout = dropout;
  options.feed_width = 4 * sizes.width;
  options.activation = &gelu_by_erf;
  options.dropout = dropout;
  options.norm_epsilon = norm_epsilon;
  return options;
}

/// 0 up to the first separator, 1 from there to the second.
Tensor segments_of(Tensor const& pieces) {
  auto const ends = pieces.eq(separator).to(torch::kLong);
  auto const odd = ends.flip(1).cumsum(1).flip(1).fmod(2);
  return odd.narrow(1, 0, 1).__xor__(odd);
}

class ReaderImpl : public nn::Module {
 public:
  explicit ReaderImpl(Sizes const& sizes)
      : embedding_(register_module("embedding", TextEmbedding(embedding_options(sizes)))),
        encoder_(register_module("encoder", TransformerStack(layer_options(sizes), sizes.layers))),
        pooler_(register_module("pooler", nn::Linear(sizes.width, sizes.width))),
        dropout_(register_module("dropout", nn::Dropout(feature_dropout))),
        spans_(register_module("spans", nn::Linear(sizes.width, 2))),
        piece_counts_(register_buffer("piece_counts", torch::ones(sizes.words, torch::kLong))) {
    initialise_transformer(*this);
  }

  /// Words [batch, length] -> logits of being the answer's first and last, both [batch, length].
  std::vector<Tensor> forward(Tensor const& words) {
    auto const features = features_of(is_training() ? drop_words(words) : words);
    auto const logits = spans_(dropout_(features));
    return {logits.index({"...", 0}), logits.index({"...", 1})};
  }

 private:
  static Tensor drop_words(Tensor const& words) {
    auto const chances = torch::full_like(words, word_dropout, torch::kFloat);
    auto const dropped = torch::bernoulli(chances).eq(1);
    auto const droppable = dropped.__and__(words.ne(padding_word)).__and__(words.ne(separator));
    return words.masked_fill(droppable, unknown_word);
  }

  Tensor features_of(Tensor const& words) {
    auto const present = words.ne(padding_word);
    auto const counts = piece_counts_.index({words}).masked_fill(present.eq(0), 0);
    auto const pieces = pieces_of(words, counts.sum(-1));
    auto const x = embedding_->forward(pieces, segments_of(pieces));
    auto const encoded = encoder_(x, padding_mask(pieces.ne(padding_word), x));
    torch::tanh(pooler_(encoded.select(1, 0)));  // the reference makes it and leaves it

    auto const chosen = first_pieces(encoded.index({Slice(), Slice(1, -1)}), counts);
    auto layers = encoded.new_zeros({1, words.size(0), words.size(1), encoded.size(-1)});
    layers.select(0, 0).copy_(chosen.masked_fill(present.unsqueeze(-1).eq(0), 0));
    return torch::cat(layers.unbind(0), -1);
  }

  /// Between a start and, after so many pieces, a separator.
  static Tensor pieces_of(Tensor const& words, Tensor const& lengths) {
    auto pieces = words.new_full({words.size(0), words.size(1) + 2}, padding_word);
    pieces.index({Slice(), Slice(1, -1)}).copy_(words);
    pieces.select(1, 0).fill_(start_word);
    auto const rows = torch::arange(words.size(0), words.options());
    pieces.index_put_({rows, lengths + 1}, separator);
    return pieces;
  }

  /// Each word's first one. `counts`: the pieces of each word.
  static Tensor first_pieces(Tensor const& pieces, Tensor const& counts) {
    auto starts = counts.new_zeros({counts.size(0), counts.size(1) + 1});
    starts.index({Slice(), Slice(1)}).copy_(counts.cumsum(-1));
    starts = starts.index({Slice(), Slice(0, -1)});
    starts.masked_fill_(starts.ge(pieces.size(1)), 0);
    auto const rows = torch::arange(counts.size(0), counts.options()).unsqueeze(1);
    return pieces.index({rows.expand(starts.sizes()), starts});
  }

  TextEmbedding embedding_;
  TransformerStack encoder_;
  nn::Linear pooler_;
  nn::Dropout dropout_;
  nn::Linear spans_;
  Tensor piece_counts_;
};

TORCH_MODULE(Reader);

Tensor draw_words(Setup const& setup, Sizes const& sizes) {
  auto const length = sizes.context + 1 + sizes.question;
  auto words = torch::randint(first_character, sizes.words, {setup.batch, length}, torch::kLong);
  words.select(1, sizes.context).fill_(separator);
  return setup.place(words);
}

/// Cross entropy of the answers' places among the contexts'.
Tensor span_loss(std::vector<Tensor> const& outputs,
                 Tensor const& context_lengths,
                 std::vector<Tensor> const& truths) {
  auto const places = torch::arange(outputs[0].size(1), context_lengths.options());
  auto const inside = places.expand(outputs[0].sizes()).lt(context_lengths.unsqueeze(1));
  auto const outside = inside.eq(0);
  auto const summed = nn::functional::CrossEntropyFuncOptions().reduction(torch::kSum);
  auto const loss_of = [&](std::size_t end) {
    auto const among = outputs[end].masked_fill(outside, -INFINITY);
    return nn::functional::cross_entropy(among, truths[end], summed);
  };
  auto const loss = (loss_of(0) + loss_of(1)) / static_cast<double>(outputs[0].size(0));
  return (loss / 2).mean();
}

}  // namespace

std::unique_ptr<Workload> make_fastNLP_Bert(Setup const& setup) {
  auto const context = setup.test == Test::train ? 457 : 456;
  auto const sizes =
      setup.pick(Sizes{21128, 512, context, 16, 768, 12, 12}, Sizes{1000, 36, 24, 7, 64, 2, 2});
  Reader network(sizes);
  setup.place(*network);
  auto const words = draw_words(setup, sizes);
  auto const each = [&](std::int64_t value) {
    return setup.place(torch::full({setup.batch}, value, torch::kLong));
  };

  Supervised parts;
  parts.network = network.ptr();
  parts.forward = [network, words]() mutable {
    return network->forward(words);
  };
  parts.loss = [lengths = each(sizes.context),
                truths = std::vector{each(0), each(answer_length - 1)}](auto const& outputs) {
    return span_loss(outputs, lengths, truths);
  };
  parts.optimizer = std::make_unique<torch::optim::AdamW>(
      network->parameters(), torch::optim::AdamWOptions(setup.pick(5e-5, 1e-3)));
  parts.gradient_norm = gradient_norm;
  return make_supervised(setup.test, std::move(parts));
}

}  // namespace torchwatch::suite::fastNLP_Bert
