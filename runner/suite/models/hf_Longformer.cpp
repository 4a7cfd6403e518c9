// Longformer: Beltagy et al., 2020 (arXiv 2004.05150), as huggingface/transformers'
// modeling_longformer.py builds it and TorchBench runs it (LongformerForMaskedLM of
// allenai/longformer-base-4096): 12 layers of width 768 with 12 heads, where a word looks at 256
// words on each side. Input: words [batch, 1024] in training, [1, 4096] in evaluation, of 50265.
// Smoke: 2 layers of width 64 with 2 heads, 8 words on each side of 64 of 1000. The reference gives
// global attention to no word when it guesses masked ones, so that the projections for it are held
// but not used. TorchBench cuts the words to an eighth for inference on a CPU, we do not.

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "runner/suite/blocks/masked_words.h"
#include "runner/suite/blocks/transformer.h"
#include "runner/suite/workload.h"

namespace torchwatch::suite::hf_Longformer {
namespace {

using torch::Tensor;
using torch::indexing::Slice;
namespace nn = torch::nn;

constexpr std::int64_t padding_word = 1;
constexpr double dropout = 0.1;
constexpr double never = -1e4;

struct Sizes {
  std::int64_t words, length, side, width, heads, feed_width, layers;
};

/// [n, length, width] -> [n, length / side - 1, 2 side, width]: chunks that overlap by half,
/// without a copy.
Tensor overlapping(Tensor const& x, std::int64_t side) {
  auto const chunks = x.view({x.size(0), x.size(1) / (2 * side), 2 * side, x.size(2)});
  return chunks.as_strided(
      {x.size(0), 2 * chunks.size(1) - 1, 2 * side, x.size(2)},
      {chunks.stride(0), chunks.stride(1) / 2, chunks.stride(2), chunks.stride(3)});
}

/// [batch, length, heads, width] -> [batch heads, length, width]
Tensor heads_first(Tensor const& x) {
  return x.transpose(1, 2).reshape({x.size(0) * x.size(2), x.size(1), x.size(3)});
}

/// Puts minus infinity where a window reaches beyond the text.
void forbid_outside(Tensor const& scores, std::int64_t side) {
  auto const corner = scores.new_ones({side, side + 1}).tril().flip({0});
  auto const before = corner.unsqueeze(0).unsqueeze(2);
  auto const first = scores.index({Slice(), Slice(0, side), Slice(), Slice(0, side + 1)});
  auto const last = scores.index({Slice(), Slice(-side), Slice(), Slice(-side - 1)});
  constexpr auto infinity = std::numeric_limits<double>::infinity();
  first.masked_fill_(before.expand(first.sizes()) == 1, -infinity);
  last.masked_fill_(before.flip({1, 3}).expand(last.sizes()) == 1, -infinity);
}

/// Scores of each query, [batch, length, heads, width], with the keys around it: [batch, length,
/// heads, 2 side + 1]. Products of whole chunks, whose diagonals become columns.
Tensor window_scores(Tensor const& query, Tensor const& key, std::int64_t side) {
  auto const products =
      torch::einsum("bcxd,bcyd->bcxy",
                    {overlapping(heads_first(query), side), overlapping(heads_first(key), side)});
  auto const padded = torch::pad(products, {0, 0, 0, 1});
  auto const skewed = padded.view({padded.size(0), padded.size(1), 2 * side, 2 * side + 1});

  auto scores = products.new_empty({skewed.size(0), skewed.size(1) + 1, side, 2 * side + 1});
  scores.index_put_({Slice(), Slice(0, -1), Slice(), Slice(side)},
                    skewed.index({Slice(), Slice(), Slice(0, side), Slice(0, side + 1)}));
  scores.index_put_({Slice(), -1, Slice(), Slice(side)},
                    skewed.index({Slice(), -1, Slice(side), Slice(0, side + 1)}));
  scores.index_put_({Slice(), Slice(1), Slice(), Slice(0, side)},
                    skewed.index({Slice(), Slice(), Slice(-side - 1, -1), Slice(side + 1)}));
  scores.index_put_({Slice(), 0, Slice(1, side), Slice(1, side)},
                    skewed.index({Slice(), 0, Slice(0, side - 1), Slice(1 - side)}));

  auto const windows =
      scores.view({query.size(0), query.size(2), query.size(1), 2 * side + 1}).transpose(2, 1);
  forbid_outside(windows, side);
  return windows;
}

/// [n, chunks, side, columns] -> [n, chunks, side, columns + side - 1]: each row one further to the
/// right than the one above.
Tensor diagonalise(Tensor const& x) {
  auto const side = x.size(2);
  auto const padded = torch::pad(x, {0, side + 1}).view({x.size(0), x.size(1), -1});
  auto const skewed =
      padded.slice(2, 0, -side).view({x.size(0), x.size(1), side, side + x.size(3)});
  return skewed.slice(3, 0, -1);
}

/// `weights`, [batch, length, heads, 2 side + 1], of the values, [batch, length, heads, width],
/// around each place: [batch, length, heads, width].
Tensor window_mix(Tensor const& weights, Tensor const& value, std::int64_t side) {
  auto const rows = value.size(0) * value.size(2);
  auto const chunks = value.size(1) / side;
  auto const chunked = weights.transpose(1, 2).reshape({rows, chunks, side, 2 * side + 1});
  auto const padded = torch::pad(heads_first(value), {0, 0, side, side}, "constant", -1);
  auto const around = padded.as_strided(
      {rows, chunks, 3 * side, value.size(3)},
      {padded.stride(0), side * padded.stride(1), padded.stride(1), padded.stride(2)});
  auto const mixed = torch::einsum("bcwd,bcdh->bcwh", {diagonalise(chunked), around});
  return mixed.view({value.size(0), value.size(2), value.size(1), value.size(3)}).transpose(1, 2);
}

class WindowAttentionImpl : public nn::Module {
 public:
  explicit WindowAttentionImpl(Sizes const& sizes)
      : sizes_(sizes),
        query_(linear("query")),
        key_(linear("key")),
        value_(linear("value")),
        output_(linear("output")),
        dropout_(register_module("dropout", nn::Dropout(dropout))) {
    for (auto const* name : {"global_query", "global_key", "global_value"})
      linear(name);
  }

  /// `mask`: [batch, length], 0 for words that are there, else below 0.
  Tensor forward(Tensor const& input, Tensor const& mask) {
    auto const x = input.transpose(0, 1);
    auto const split = [&](Tensor const& projected) {
      return projected.view({x.size(0), x.size(1), sizes_.heads, -1}).transpose(0, 1);
    };
    auto query = query_(x);
    auto const head_width = sizes_.width / sizes_.heads;
    query /= std::sqrt(static_cast<double>(head_width));
    auto const key = key_(x);
    auto const value = value_(x);
    auto scores = window_scores(split(query), split(key), sizes_.side);
    scores += absent_words(query, mask);

    auto const missing = (mask < 0).unsqueeze(-1).unsqueeze(-1);
    auto const weights =
        torch::softmax(scores, -1, torch::kFloat).masked_fill(missing, 0).type_as(scores);
    auto const mixed = window_mix(dropout_(weights), split(value), sizes_.side);
    return output_(mixed.transpose(0, 1).reshape(x.sizes()).transpose(0, 1));
  }

 private:
  nn::Linear linear(char const* name) {
    return register_module(name, nn::Linear(sizes_.width, sizes_.width));
  }

  /// Scores, [batch, length, 1, 2 side + 1], that keep from words that are not there.
  Tensor absent_words(Tensor const& query, Tensor const& mask) const {
    auto const absent = (mask != 0).unsqueeze(-1).unsqueeze(-1);
    auto const penalty = absent.type_as(query).masked_fill(absent, never);
    return window_scores(penalty.new_ones(penalty.sizes()), penalty, sizes_.side);
  }

  Sizes sizes_;
  nn::Linear query_, key_, value_, output_;
  nn::Dropout dropout_;
};

TORCH_MODULE(WindowAttention);

WordEmbeddingOptions embedding_of(Sizes const& sizes) {
  WordEmbeddingOptions options;
  options.words = sizes.words;
  options.positions = sizes.length + padding_word + 1;
  options.width = sizes.width;
  options.padding = padding_word;
  options.padding_has_a_place = true;
  options.dropout = dropout;
  return options;
}

TransformerOptions layer_of(Sizes const& sizes) {
  TransformerOptions options;
  options.attention.width = sizes.width;
  options.feed_width = sizes.feed_width;
  options.dropout = dropout;
  return options;
}

/// Words are counted from the first place after the padding's; padding is not counted.
Tensor places_of(Tensor const& words) {
  auto const counted = words.ne(padding_word).to(torch::kInt);
  return (torch::cumsum(counted, 1).type_as(counted) * counted).to(torch::kLong) + padding_word;
}

class LongformerImpl : public nn::Module {
 public:
  explicit LongformerImpl(Sizes const& sizes)
      : embedding_(register_module("embedding", WordEmbedding(embedding_of(sizes)))),
        head_(register_module("head", WordHead(embedding_of(sizes), &gelu))) {
    for (std::int64_t i = 0; i < sizes.layers; ++i) {
      auto const attention = WindowAttention(sizes);
      layers_.emplace_back(
          register_module("layer" + std::to_string(i),
                          TransformerLayer(layer_of(sizes), nn::AnyModule(attention))));
    }
    initialise_transformer(*this);
  }

  std::vector<Tensor> forward(Tensor const& words) {
    auto x = embedding_(words, places_of(words));
    auto const present = torch::ones(words.sizes(), words.options().dtype(torch::kFloat));
    auto const lowest = torch::rsub(present.unsqueeze(1).unsqueeze(1).to(x.scalar_type()), 1);
    auto const mask = (lowest * never).index({Slice(), 0, 0});
    TORCH_CHECK(!(mask > 0).flatten().any().item<bool>(), "no word has global attention");
    for (auto& layer : layers_)
      x = layer(x, mask);
    return {head_(x, embedding_->table())};
  }

 private:
  WordEmbedding embedding_;
  WordHead head_;
  std::vector<TransformerLayer> layers_;
};

TORCH_MODULE(Longformer);

}  // namespace

std::unique_ptr<Workload> make_hf_Longformer(Setup const& setup) {
  auto const sizes =
      setup.pick(Sizes{50265, 4096, 256, 768, 12, 3072, 12}, Sizes{1000, 64, 8, 64, 2, 128, 2});
  bool const shorter = setup.scale == Scale::full && setup.test == Test::train;
  return make_word_guesser(setup, {sizes.words, shorter ? 1024 : sizes.length}, Longformer(sizes));
}

}  // namespace torchwatch::suite::hf_Longformer
