// Reformer: Kitaev et al., 2020 (arXiv 2001.04451), as huggingface/transformers'
// modeling_reformer.py builds it and TorchBench runs it (ReformerForMaskedLM of a default
// ReformerConfig with 128 buckets): 6 reversible layers of width 256 with 12 heads of 64, whose
// attention is in turns local and among words of like hash, in chunks of 64. Input: words [batch,
// 4096] of 320. Smoke: 2 layers of width 64 with 2 heads of 32, 128 of 100 words, 16 buckets,
// chunks of 16. As in the reference hashes are drawn at each step, in inference too, and feed
// forward is one chunk. Where it seeds the generator in each layer and again in the backward
// pass, we put back the generator's state, so that a run can be repeated; of hashing layers the one
// after the hash, without which the backward pass drops other values than the forward pass did.
// What it computes and does not use is left out: places of words in local attention, logits put
// back into their order, caches for decoding. TorchBench cuts the words to a half for inference on
// a CPU, we do not.

#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "runner/suite/blocks/masked_words.h"
#include "runner/suite/blocks/replay.h"
#include "runner/suite/blocks/transformer.h"
#include "runner/suite/layers.h"
#include "runner/suite/workload.h"

namespace torchwatch::suite::hf_Reformer {
namespace {

using torch::Tensor;
using torch::indexing::Slice;
namespace nn = torch::nn;

constexpr double dropout = 0.05;
constexpr double norm_epsilon = 1e-12;
constexpr std::int64_t rounds = 1;  // of hashing

struct Sizes {
  std::int64_t words;
  std::int64_t rows, columns;            ///< axial positions; their product is the length
  std::int64_t row_width, column_width;  ///< their sum is the width
  std::int64_t heads, head_width, feed_width, chunk, buckets, layers;

  std::int64_t length() const { return rows * columns; }

  std::int64_t width() const { return row_width + column_width; }
};

nn::LayerNorm make_norm(std::int64_t width) {
  return nn::LayerNorm(nn::LayerNormOptions({width}).eps(norm_epsilon));
}

/// [batch, heads, length, ...] -> [batch, heads, chunks, chunk, ...]
Tensor split_chunks(Tensor const& x, std::int64_t chunk) {
  std::vector<std::int64_t> sizes{x.size(0), x.size(1), -1, chunk};
  auto const rest = x.sizes().slice(3);
  sizes.insert(sizes.end(), rest.begin(), rest.end());
  return x.reshape(sizes);
}

/// Each chunk behind the one before it; before the first is the last.
Tensor with_chunk_before(Tensor const& chunks) {
  auto const before = torch::cat({chunks.slice(2, -1), chunks.slice(2, 0, -1)}, 2);
  return torch::cat({before, chunks}, 3);
}

/// Softmax as the reference writes it.
Tensor normalise(Tensor const& scores) {
  return torch::exp(scores - torch::logsumexp(scores, -1, true));
}

/// [batch, heads, length] -> each row of `x`, [batch, heads, length, width], at that place.
Tensor gather_rows(Tensor const& x, Tensor const& places) {
  return x.gather(2, places.unsqueeze(-1).expand({-1, -1, -1, x.size(-1)}));
}

/// The state with which the backward pass repeats a layer exactly.
struct Trace {
  Tensor buckets;          ///< bucket of each word in each head; undefined in local attention
  Tensor attention_state;  ///< the generator's state when the words were in their buckets
  Tensor feed_state;
};

class SelfAttentionImpl : public nn::Module {
 public:
  /// [batch, length, width] -> [batch, length, heads * head width]. Takes the buckets of `trace`,
  /// or fills them in and notes the generator's state after it.
  virtual Tensor forward(Tensor const& x, Trace& trace) = 0;
};

/// A word looks at its chunk and the one before.
class LocalAttentionImpl final : public SelfAttentionImpl {
 public:
  explicit LocalAttentionImpl(Sizes const& sizes)
      : sizes_(sizes),
        query_(linear("query")),
        key_(linear("key")),
        value_(linear("value")),
        dropout_(register_module("dropout", nn::Dropout(dropout))) {}

  Tensor forward(Tensor const& x, Trace&) override {
    auto const root = std::sqrt(static_cast<double>(sizes_.head_width));
    auto const query = split_chunks(split_heads(query_(x), sizes_.heads), sizes_.chunk);
    auto const key = split_chunks(split_heads(key_(x), sizes_.heads) / root, sizes_.chunk);
    auto const value = split_chunks(split_heads(value_(x), sizes_.heads), sizes_.chunk);
    auto const scores = torch::matmul(query, with_chunk_before(key).transpose(-1, -2));
    auto const weights = dropout_(normalise(scores));
    auto const mixed = torch::matmul(weights, with_chunk_before(value));
    return merge_heads(mixed.flatten(2, 3));
  }

 private:
  nn::Linear linear(char const* name) {
    return register_module(name, unbiased(sizes_.width(), sizes_.heads * sizes_.head_width));
  }

  Sizes sizes_;
  nn::Linear query_, key_, value_;
  nn::Dropout dropout_;
};

/// Puts rows back into their order; backward too by gathering instead of adding up.
class Unsort : public torch::autograd::Function<Unsort> {
 public:
  static Tensor forward(torch::autograd::AutogradContext* context,
                        Tensor const& x,
                        Tensor const& order,
                        Tensor const& back) {
    context->save_for_backward({order});
    return gather_rows(x, back);
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list const& slopes) {
    return {gather_rows(slopes[0], context->get_saved_variables()[0]), {}, {}};
  }
};

/// Words are sorted by a hash that is likely equal for similar ones; each then looks at its chunk
/// and the one before, but not at itself. Queries are keys too.
class HashAttentionImpl final : public SelfAttentionImpl {
 public:
  explicit HashAttentionImpl(Sizes const& sizes)
      : sizes_(sizes),
        query_key_(linear("query_key")),
        value_(linear("value")) {}

  Tensor forward(Tensor const& x, Trace& trace) override {
    auto const all_queries = split_heads(query_key_(x), sizes_.heads);
    auto const all_values = split_heads(value_(x), sizes_.heads);
    if (!trace.buckets.defined()) {
      trace.buckets = hash(all_queries.detach());
      if (is_training()) trace.attention_state = random_state_of(x.device());
    }
    auto const order = stable_order(trace.buckets);
    auto const numbers = torch::arange(order.size(-1), order.options()).expand(order.sizes());
    auto const back = torch::empty_like(order).scatter_(-1, order, numbers);
    auto const places = order % x.size(1);

    auto const sort = [&](Tensor const& rows) {
      return split_chunks(gather_rows(rows.repeat({1, 1, rounds, 1}), places), sizes_.chunk);
    };
    auto const query = sort(all_queries);
    auto const value = with_chunk_before(sort(all_values));
    auto const scores = score(query, split_chunks(places, sizes_.chunk));
    auto const mixed = torch::matmul(normalise(scores), value).flatten(2, 3);
    return merge_heads(Unsort::apply(mixed, order, back));
  }

 private:
  nn::Linear linear(char const* name) {
    return register_module(name, unbiased(sizes_.width(), sizes_.heads * sizes_.head_width));
  }

  /// [batch, heads, length, head width] -> [batch, heads, rounds * length]: the nearest of random
  /// directions and their opposites.
  Tensor hash(Tensor const& vectors) const {
    auto const directions = torch::randn(
        {sizes_.heads, sizes_.head_width, rounds, sizes_.buckets / 2}, vectors.options());
    auto const rotated = torch::einsum("bmtd,mdhr->bmhtr", {vectors, directions});
    auto const buckets = torch::argmax(torch::cat({rotated, -1.0 * rotated}, -1), -1);
    auto const first = torch::arange(rounds, buckets.options()) * sizes_.buckets;
    auto const each = first.view({1, 1, -1, 1}).expand({buckets.size(0), buckets.size(1), -1, -1});
    return (buckets + each).flatten(2, 3);
  }

  static Tensor stable_order(Tensor const& buckets) {
    auto const length = buckets.size(-1);
    auto const numbers = torch::arange(length, buckets.options()).expand(buckets.sizes());
    return torch::argsort(length * buckets + numbers % length);
  }

  /// `query`: [batch, heads, chunks, chunk, head width], `places` without the last.
  Tensor score(Tensor const& query, Tensor const& places) const {
    auto const length = torch::rsqrt(torch::mean(query.pow(2), -1, true) + 1e-6);
    auto const key = query * length * (1 / std::sqrt(static_cast<double>(sizes_.head_width)));
    auto const scores = torch::matmul(query, with_chunk_before(key).transpose(-1, -2));
    auto const others = torch::ne(places.unsqueeze(-1), with_chunk_before(places).unsqueeze(-2));
    return torch::where(others, scores, scores.scalar_type() == torch::kHalf ? -1e3 : -1e5);
  }

  Sizes sizes_;
  nn::Linear query_key_, value_;
};

/// The two streams of a reversible network, or their gradients.
struct Streams {
  Tensor attended, fed;  ///< [batch, length, width]
};

class LayerImpl : public nn::Module {
 public:
  LayerImpl(Sizes const& sizes, std::shared_ptr<SelfAttentionImpl> attention)
      : attention_norm_(register_module("attention_norm", make_norm(sizes.width()))),
        attention_(register_module("attention", std::move(attention))),
        output_(register_module("output", unbiased(sizes.heads * sizes.head_width, sizes.width()))),
        feed_norm_(register_module("feed_norm", make_norm(sizes.width()))),
        up_(register_module("up", nn::Linear(sizes.width(), sizes.feed_width))),
        down_(register_module("down", nn::Linear(sizes.feed_width, sizes.width()))),
        dropout_(register_module("dropout", nn::Dropout(dropout))) {}

  /// Without gradients. In training fills `trace`.
  Streams forward(Streams const& in, Trace& trace) {
    auto const device = in.fed.device();
    if (is_training()) trace.attention_state = random_state_of(device);
    auto const attended = in.attended + attend(in.fed, trace);
    if (is_training()) trace.feed_state = random_state_of(device);
    return {attended, in.fed + feed(attended)};
  }

  /// From the layer's output and its gradient to the input and its gradient.
  void rewind(Streams& streams, Streams& slopes, Trace& trace) {
    auto const fed = rerun(
        streams.attended, slopes.fed, trace.feed_state, [&](Tensor const& x) { return feed(x); });
    streams.fed = streams.fed - fed.output;
    slopes.attended = slopes.attended + fed.slope;

    auto const attended =
        rerun(streams.fed, slopes.attended, trace.attention_state, [&](Tensor const& x) {
          return attend(x, trace);
        });
    streams.attended = streams.attended - attended.output;
    slopes.fed = slopes.fed + attended.slope;
  }

 private:
  Tensor attend(Tensor const& x, Trace& trace) {
    return dropout_(output_(attention_->forward(attention_norm_(x), trace)));
  }

  Tensor feed(Tensor const& x) {
    return dropout_(down_(torch::relu(dropout_(up_(feed_norm_(x))))));
  }

  nn::LayerNorm attention_norm_;
  std::shared_ptr<SelfAttentionImpl> attention_;
  nn::Linear output_;
  nn::LayerNorm feed_norm_;
  nn::Linear up_, down_;
  nn::Dropout dropout_;
};

TORCH_MODULE(Layer);

/// The layers of one pass and how they ran.
struct Tape : torch::CustomClassHolder {
  explicit Tape(std::vector<Layer> all) : layers(std::move(all)), traces(layers.size()) {}

  std::vector<Layer> layers;
  std::vector<Trace> traces;
};

/// All layers, [batch, length, 2 width] -> the same. Keeps no activation but the last: the backward
/// pass computes each layer's input from its output.
class Reversible : public torch::autograd::Function<Reversible> {
 public:
  static Tensor forward(torch::autograd::AutogradContext* context,
                        Tensor const& x,
                        c10::intrusive_ptr<Tape> const& tape) {
    auto const halves = x.chunk(2, -1);
    Streams streams{halves[0], halves[1]};
    for (std::size_t i = 0; i < tape->layers.size(); ++i)
      streams = tape->layers[i]->forward(streams, tape->traces[i]);
    context->save_for_backward({streams.attended, streams.fed});
    context->saved_data["tape"] = c10::IValue::make_capsule(tape);
    return torch::cat({streams.attended, streams.fed}, -1);
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list const& gradients) {
    auto const holder = context->saved_data["tape"].toCapsule();
    auto& tape = static_cast<Tape&>(*holder);
    auto const saved = context->get_saved_variables();
    auto const halves = gradients[0].chunk(2, -1);
    Streams streams{saved[0], saved[1]};
    Streams slopes{halves[0], halves[1]};
    for (auto i = tape.layers.size(); i-- > 0;)
      tape.layers[i]->rewind(streams, slopes, tape.traces[i]);
    return {torch::cat({slopes.attended, slopes.fed}, -1), {}};
  }
};

/// A vector for each row and one for each column of the text laid out as a rectangle.
class AxialPositionsImpl : public nn::Module {
 public:
  explicit AxialPositionsImpl(Sizes const& sizes)
      : columns_(sizes.columns),
        rows_weight_(register_parameter("rows", torch::randn({sizes.rows, 1, sizes.row_width}))),
        columns_weight_(
            register_parameter("columns", torch::randn({1, sizes.columns, sizes.column_width}))) {}

  /// `places`: [batch, length]; in training all there are. Returns [batch, length, width].
  Tensor forward(Tensor const& places) {
    auto const batch = places.size(0);
    auto const whole = [&](Tensor const& weight) {
      return weight.expand({batch, rows_weight_.size(0), columns_, weight.size(2)});
    };
    auto const rows = whole(rows_weight_);
    auto const columns = whole(columns_weight_);
    if (is_training()) {
      auto const table = torch::cat({rows, columns}, -1).transpose(2, 1);
      auto const kept = torch::feature_dropout(table, dropout, true).transpose(2, 1);
      return kept.reshape({batch, places.size(1), -1});
    }
    auto const needed = places.max().item<std::int64_t>() / columns_ + 1;
    auto const table = torch::cat({rows.slice(1, 0, needed), columns.slice(1, 0, needed)}, -1)
                           .reshape({batch, needed * columns_, -1});
    std::vector<Tensor> chosen;
    for (std::int64_t i = 0; i < batch; ++i)
      chosen.push_back(table[i].index_select(0, places[i]).unsqueeze(0));
    return torch::cat(chosen);
  }

 private:
  std::int64_t columns_;
  Tensor rows_weight_, columns_weight_;
};

TORCH_MODULE(AxialPositions);

class ReformerImpl : public nn::Module {
 public:
  explicit ReformerImpl(Sizes const& sizes)
      : words_(register_module("words", nn::Embedding(sizes.words, sizes.width()))),
        positions_(register_module("positions", AxialPositions(sizes))),
        norm_(register_module("norm", make_norm(2 * sizes.width()))),
        dropout_(register_module("dropout", nn::Dropout(dropout))),
        head_(register_module("head", nn::Linear(2 * sizes.width(), sizes.words))) {
    for (std::int64_t i = 0; i < sizes.layers; ++i)
      layers_.emplace_back(
          register_module("layer" + std::to_string(i), Layer(sizes, make_attention(sizes, i))));
    initialise_transformer(*this);
  }

  std::vector<Tensor> forward(Tensor const& words) {
    auto const places =
        torch::arange(words.size(1), words.options()).unsqueeze(0).expand(words.sizes());
    auto const x = dropout_(words_(words)) + positions_(places);
    auto const tape = c10::make_intrusive<Tape>(layers_);
    auto const both = Reversible::apply(torch::cat({x, x}, -1), tape);
    return {head_(dropout_(norm_(both)))};
  }

 private:
  static std::shared_ptr<SelfAttentionImpl> make_attention(Sizes const& sizes, std::int64_t layer) {
    if (layer % 2 == 0) return std::make_shared<LocalAttentionImpl>(sizes);
    return std::make_shared<HashAttentionImpl>(sizes);
  }

  nn::Embedding words_;
  AxialPositions positions_;
  nn::LayerNorm norm_;
  nn::Dropout dropout_;
  nn::Linear head_;
  std::vector<Layer> layers_;
};

TORCH_MODULE(Reformer);

}  // namespace

std::unique_ptr<Workload> make_hf_Reformer(Setup const& setup) {
  auto const sizes = setup.pick(Sizes{320, 64, 64, 64, 192, 12, 64, 512, 64, 128, 6},
                                Sizes{100, 8, 16, 16, 48, 2, 32, 128, 16, 16, 2});
  return make_word_guesser(setup, {sizes.words, sizes.length()}, Reformer(sizes));
}

}  // namespace torchwatch::suite::hf_Reformer
