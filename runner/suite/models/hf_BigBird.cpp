// BigBird: Zaheer et al., 2020 (arXiv 2007.14062), as huggingface/transformers'
// modeling_big_bird.py builds it and TorchBench runs it (BigBirdForMaskedLM): 12 layers of width
// 768 with 12 heads over blocks of 64 words. The first and the last block look everywhere and are
// seen from everywhere; each other one looks at itself, its neighbours and three random blocks.
// Input: words [batch, 1024] in training, [1, 4096] in evaluation, of 50358, none of them masked.
// Smoke: 2 layers of width 64 with 2 heads over 16 blocks of 4 of 1000 words. The random blocks are
// drawn once: the reference draws them at each step, but with the layer's number as the seed, so
// that they are always the same. TorchBench cuts the words to a fifth for inference on a CPU, we do
// not.

#include <cmath>
#include <string>
#include <vector>

#include "runner/suite/blocks/masked_words.h"
#include "runner/suite/blocks/transformer.h"
#include "runner/suite/workload.h"

namespace torchwatch::suite::hf_BigBird {
namespace {

using torch::Tensor;
using torch::indexing::Slice;
namespace nn = torch::nn;

constexpr std::int64_t random_blocks = 3;
constexpr std::int64_t random_reach = 16;  // first blocks that may be chosen at random
constexpr double never = -1e4;

struct Sizes {
  std::int64_t words, positions, length, block, width, heads, feed_width, layers;

  std::int64_t blocks() const { return length / block; }
};

/// [heads, blocks - 2, random blocks]: for all but the first and last block those to look at. Never
/// the block itself, a neighbour or the first.
Tensor choose_blocks(Sizes const& sizes) {
  std::vector<Tensor> rows;
  auto const candidates = torch::arange(1, random_reach);
  for (std::int64_t head = 0; head < sizes.heads; ++head) {
    for (std::int64_t block = 1; block + 1 < sizes.blocks(); ++block) {
      auto const far = candidates.masked_select((candidates - block).abs() > 1);
      rows.push_back(far.index_select(0, torch::randperm(far.size(0)).slice(0, 0, random_blocks)));
    }
  }
  return torch::stack(rows).view({sizes.heads, -1, random_blocks});
}

/// Products of as many matrices, [..., n, k] and [..., k, m], as one batch.
Tensor multiply_all(Tensor const& left, Tensor const& right) {
  auto sizes = left.sizes().vec();
  sizes.back() = right.size(-1);
  return torch::bmm(left.reshape({-1, left.size(-2), left.size(-1)}),
                    right.reshape({-1, right.size(-2), right.size(-1)}))
      .view(sizes);
}

/// The same with the right ones given as [..., m, k].
Tensor multiply_all_transposed(Tensor const& left, Tensor const& right) {
  auto sizes = left.sizes().vec();
  sizes.back() = right.size(-2);
  return torch::bmm(left.reshape({-1, left.size(-2), left.size(-1)}),
                    right.reshape({-1, right.size(-2), right.size(-1)}).transpose(1, 2))
      .view(sizes);
}

/// To be added to scores.
Tensor penalty(Tensor const& seen) {
  return torch::rsub(seen, 1) * never;
}

/// For every word of every block whether it is there, and which of the three blocks around it can
/// be seen from it: [batch, blocks, block, 1 + 3 block]. One tensor, as a layer takes one mask.
Tensor make_mask(Tensor const& present) {
  auto const around = torch::cat({present.index({Slice(), Slice(1, -3)}),
                                  present.index({Slice(), Slice(2, -2)}),
                                  present.index({Slice(), Slice(3, -1)})},
                                 2);
  auto const inner = present.index({Slice(), Slice(2, -2)});
  auto const band = torch::einsum("blq,blk->blqk", {inner, around});
  return torch::cat({present.unsqueeze(-1), torch::constant_pad_nd(band, {0, 0, 0, 0, 2, 2})}, -1);
}

class BlockSparseAttentionImpl : public nn::Module {
 public:
  explicit BlockSparseAttentionImpl(Sizes const& sizes)
      : sizes_(sizes),
        query_(register_module("query", nn::Linear(sizes.width, sizes.width))),
        key_(register_module("key", nn::Linear(sizes.width, sizes.width))),
        value_(register_module("value", nn::Linear(sizes.width, sizes.width))),
        output_(register_module("output", nn::Linear(sizes.width, sizes.width))),
        chosen_(register_buffer("chosen", choose_blocks(sizes))) {}

  /// `mask` as make_mask makes it.
  Tensor forward(Tensor const& x, Tensor const& mask) {
    auto const parts = cut(x, mask);
    auto const mixed = torch::cat({at_end(parts, 0),
                                   beside_end(parts, {0, 1, 2, -1}, 0),
                                   inside(parts),
                                   beside_end(parts, {0, -3, -2, -1}, -1),
                                   at_end(parts, -1)},
                                  2);
    auto const there = parts.present.flatten(1).unsqueeze(1).unsqueeze(-1);
    return output_(merge_heads(mixed.flatten(2, 3) * there));
  }

 private:
  struct Parts {
    Tensor query, key, value;         ///< [batch, heads, blocks, block, head width]
    Tensor random_key, random_value;  ///< [batch, heads, blocks - 2, random words, head width]
    Tensor present;                   ///< [batch, blocks, block]
    Tensor band;                      ///< [batch, 1, blocks - 4, block, 3 block]
    Tensor random_seen;               ///< [batch, heads, blocks - 2, block, random words]
  };

  Parts cut(Tensor const& x, Tensor const& mask) {
    auto const blocks = [&](Tensor const& projected) {
      auto const heads = split_heads(projected, sizes_.heads);
      return heads.view({x.size(0), sizes_.heads, sizes_.blocks(), sizes_.block, -1});
    };
    Parts parts;
    parts.query = blocks(query_(x));
    parts.key = blocks(key_(x));
    parts.value = blocks(value_(x));
    auto const chosen =
        torch::cat(std::vector<Tensor>(static_cast<std::size_t>(x.size(0)), chosen_.unsqueeze(0)));
    parts.random_key = choose(parts.key, chosen);
    parts.random_value = choose(parts.value, chosen);
    parts.present = mask.select(-1, 0);
    parts.band = mask.index({Slice(), Slice(2, -2), Slice(), Slice(1)}).unsqueeze(1);
    auto const words = chosen_words(parts.present, chosen);
    auto const from = parts.present.index({Slice(), Slice(1, -1)});
    parts.random_seen = torch::einsum("blq,bhlk->bhlqk", {from, words});
    return parts;
  }

  /// The random blocks, [batch, heads, blocks - 2, random words, head width], of `all`. `chosen`:
  /// [batch, heads, blocks - 2, random blocks].
  Tensor choose(Tensor const& all, Tensor const& chosen) const {
    auto const each = chosen.size(2) * chosen.size(3);
    auto const table = torch::floor_divide(torch::arange(chosen.numel(), chosen.options()), each);
    auto const flat = chosen.view(-1) + table * sizes_.blocks();
    auto const picked = all.reshape({-1, all.size(-2), all.size(-1)}).index_select(0, flat);
    return picked.reshape({all.size(0), all.size(1), chosen.size(2), -1, all.size(-1)});
  }

  /// Which of the words in random blocks are there, [batch, heads, blocks - 2, random words].
  Tensor chosen_words(Tensor const& present, Tensor const& chosen) const {
    std::vector<Tensor> words;
    for (std::int64_t i = 0; i < present.size(0); ++i)
      words.push_back(present[i].index({chosen[i].flatten()}));
    return torch::stack(words).view({present.size(0), sizes_.heads, chosen.size(2), -1});
  }

  Tensor scaled(Tensor const& scores) const {
    auto const head_width = sizes_.width / sizes_.heads;
    return scores * (1 / std::sqrt(static_cast<double>(head_width)));
  }

  /// One block, [batch, heads, 1, block, head width]. `seen` is broadcast to the scores.
  Tensor attend(Tensor const& query,
                Tensor const& key,
                Tensor const& value,
                Tensor const& seen) const {
    auto scores = scaled(multiply_all_transposed(query, key));
    scores += penalty(seen);
    return multiply_all(torch::softmax(scores, -1), value).unsqueeze_(2);
  }

  /// The first or last block, which looks at all words.
  Tensor at_end(Parts const& parts, std::int64_t block) const {
    auto const seen = parts.present.flatten(1).unsqueeze(1).unsqueeze(1);
    return attend(
        parts.query.select(2, block), parts.key.flatten(2, 3), parts.value.flatten(2, 3), seen);
  }

  /// The second or last but one, whose window meets an end.
  Tensor beside_end(Parts const& parts,
                    std::vector<std::int64_t> const& visible,
                    std::int64_t row) const {
    std::vector<Tensor> keys, values, present;
    for (auto const block : visible) {
      keys.push_back(parts.key.select(2, block));
      values.push_back(parts.value.select(2, block));
      present.push_back(parts.present.select(1, block));
    }
    keys.push_back(parts.random_key.select(2, row));
    values.push_back(parts.random_value.select(2, row));
    auto const random = parts.random_seen.select(2, row);
    present.push_back(parts.present.new_ones({random.size(0), random.size(-1)}));
    auto const words = torch::cat(present, 1).unsqueeze(1).unsqueeze(1);
    auto const others =
        random.new_ones({random.size(0), random.size(1), sizes_.block, 4 * sizes_.block});
    auto const seen = torch::minimum(words, torch::cat({others, random}, -1));
    return attend(
        parts.query.select(2, row < 0 ? -2 : 1), torch::cat(keys, 2), torch::cat(values, 2), seen);
  }

  /// All others: [batch, heads, blocks - 4, block, head width].
  Tensor inside(Parts const& parts) const {
    auto const query = parts.query.slice(2, 2, -2);
    auto const keys = around(parts.key);
    auto const random_keys = parts.random_key.slice(2, 1, -1);
    auto const scores_of = [&](std::int64_t block) {
      auto scores = scaled(torch::einsum("bhlqd,bhkd->bhlqk", {query, parts.key.select(2, block)}));
      auto const seen = parts.present.select(1, block).unsqueeze(1).unsqueeze(1).unsqueeze(1);
      return scores += penalty(seen);
    };
    auto window = scaled(multiply_all_transposed(query, keys));
    window += penalty(parts.band);
    auto random = scaled(multiply_all_transposed(query, random_keys));
    random += penalty(parts.random_seen.slice(2, 1, -1));
    auto const scores = torch::cat({scores_of(0), window, random, scores_of(-1)}, -1);
    return mix(parts, torch::softmax(scores, -1));
  }

  /// `weights`: of the first block, the window, the random blocks and the last block.
  Tensor mix(Parts const& parts, Tensor const& weights) const {
    auto const block = sizes_.block;
    auto const end = [&](Tensor const& weight, std::int64_t which) {
      return torch::einsum("bhlqk,bhkd->bhlqd", {weight, parts.value.select(2, which)});
    };
    auto mixed = multiply_all(weights.slice(-1, block, 4 * block), around(parts.value));
    mixed += multiply_all(weights.slice(-1, 4 * block, -block), parts.random_value.slice(2, 1, -1));
    mixed += end(weights.slice(-1, 0, block), 0);
    mixed += end(weights.slice(-1, -block), -1);
    return mixed;
  }

  /// The three blocks around each inner one, one behind the other.
  static Tensor around(Tensor const& all) {
    return torch::cat({all.slice(2, 1, -3), all.slice(2, 2, -2), all.slice(2, 3, -1)}, 3);
  }

  Sizes sizes_;
  nn::Linear query_, key_, value_, output_;
  Tensor chosen_;
};

TORCH_MODULE(BlockSparseAttention);

WordEmbeddingOptions embedding_of(Sizes const& sizes) {
  WordEmbeddingOptions options;
  options.words = sizes.words;
  options.positions = sizes.positions;
  options.segments = 2;
  options.width = sizes.width;
  options.norm_last = true;
  options.norm_epsilon = 1e-12;
  options.dropout = 0.1;
  return options;
}

TransformerOptions layer_of(Sizes const& sizes) {
  TransformerOptions options;
  options.attention.width = sizes.width;
  options.feed_width = sizes.feed_width;
  options.activation = &gelu_by_tanh;
  options.dropout = 0.1;
  options.norm_epsilon = 1e-12;
  return options;
}

class BigBirdImpl : public nn::Module {
 public:
  explicit BigBirdImpl(Sizes const& sizes)
      : sizes_(sizes),
        embedding_(register_module("embedding", WordEmbedding(embedding_of(sizes)))),
        places_(register_buffer("places", torch::arange(sizes.positions).unsqueeze(0))),
        pooler_(register_module("pooler", nn::Linear(sizes.width, sizes.width))),
        head_(register_module("head", WordHead(embedding_of(sizes), &gelu_by_tanh))) {
    for (std::int64_t i = 0; i < sizes.layers; ++i) {
      auto const attention = BlockSparseAttention(sizes);
      layers_.emplace_back(
          register_module("layer" + std::to_string(i),
                          TransformerLayer(layer_of(sizes), nn::AnyModule(attention))));
    }
    initialise_transformer(*this);
  }

  /// Logits of words, and the first word's vector, which no loss asks for.
  std::vector<Tensor> forward(Tensor const& words) {
    auto x = embedding_(words, places_.slice(1, 0, words.size(1)));
    auto const mask =
        make_mask(torch::ones({words.size(0), sizes_.blocks(), sizes_.block}, x.options()));
    for (auto& layer : layers_)
      x = layer(x, mask);
    auto const pooled = torch::tanh(pooler_(x.select(1, 0)));
    return {head_(x, embedding_->table()), pooled};
  }

 private:
  Sizes sizes_;
  WordEmbedding embedding_;
  Tensor places_;
  nn::Linear pooler_;
  WordHead head_;
  std::vector<TransformerLayer> layers_;
};

TORCH_MODULE(BigBird);

}  // namespace

std::unique_ptr<Workload> make_hf_BigBird(Setup const& setup) {
  auto sizes = setup.pick(Sizes{50358, 4096, 4096, 64, 768, 12, 3072, 12},
                          Sizes{1000, 64, 64, 4, 64, 2, 128, 2});
  if (setup.scale == Scale::full && setup.test == Test::train) sizes.length = 1024;
  return make_word_guesser(setup, {sizes.words, sizes.length}, BigBird(sizes));
}

}  // namespace torchwatch::suite::hf_BigBird
