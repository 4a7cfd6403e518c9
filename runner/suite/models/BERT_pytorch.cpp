// BERT: Devlin et al., 2018 (arXiv 1810.04805), as codertimo/BERT-pytorch builds it and TorchBench
// runs it: 12 layers of width 768 with 12 heads, normalisation before each sublayer, sinusoidal
// positions, and two heads: masked words and next sentence. Input: words and segments [batch, 128]
// of about 20000 words, masked words [batch, 128], next sentence [batch]. Smoke: 2 layers of width
// 128 with 2 heads, 32 of 2000 words. Upstream's warm-up of the learning rate is left out: it
// changes no operator.

#include <cmath>
#include <utility>

#include "runner/suite/supervised.h"

namespace torchwatch::suite::BERT_pytorch {
namespace {

using torch::Tensor;
using torch::indexing::Slice;
namespace nn = torch::nn;

constexpr std::int64_t padding_word = 0;
constexpr std::int64_t mask_word = 4;
constexpr std::int64_t special_words = 5;  // padding, unknown, end, start, mask
constexpr double dropout = 0.1;

struct Sizes {
  std::int64_t words, length, width, heads, layers;
};

/// The reference's own layer norm: mean and unbiased standard deviation as separate operators.
class NormImpl : public nn::Module {
 public:
  explicit NormImpl(std::int64_t width)
      : gain_(register_parameter("gain", torch::ones(width))),
        bias_(register_parameter("bias", torch::zeros(width))) {}

  Tensor forward(Tensor const& x) {
    auto const mean = x.mean(-1, true);
    auto const deviation = x.std(-1, true, true);
    return gain_ * (x - mean) / (deviation + 1e-6) + bias_;
  }

 private:
  Tensor gain_;
  Tensor bias_;
};

TORCH_MODULE(Norm);

class AttentionImpl : public nn::Module {
 public:
  AttentionImpl(std::int64_t width, std::int64_t heads)
      : heads_(heads),
        query_(register_module("query", nn::Linear(width, width))),
        key_(register_module("key", nn::Linear(width, width))),
        value_(register_module("value", nn::Linear(width, width))),
        output_(register_module("output", nn::Linear(width, width))),
        dropout_(register_module("dropout", nn::Dropout(dropout))) {}

  /// `visible`: [batch, 1, length, length], false where a word must not be looked at.
  Tensor forward(Tensor const& x, Tensor const& visible) {
    auto const query = split(query_(x));
    auto const key = split(key_(x));
    auto const value = split(value_(x));
    auto const scale = std::sqrt(static_cast<double>(query.size(-1)));
    auto const scores = torch::matmul(query, key.transpose(-2, -1)) / scale;
    auto const weights = torch::softmax(scores.masked_fill(visible == 0, -1e9), -1);
    auto const mixed = torch::matmul(dropout_(weights), value).transpose(1, 2).contiguous();
    return output_(mixed.view(x.sizes()));
  }

 private:
  /// [batch, length, width] -> [batch, heads, length, width / heads]
  Tensor split(Tensor const& x) const {
    return x.view({x.size(0), x.size(1), heads_, -1}).transpose(1, 2);
  }

  std::int64_t heads_;
  nn::Linear query_, key_, value_, output_;
  nn::Dropout dropout_;
};

TORCH_MODULE(Attention);

class BlockImpl : public nn::Module {
 public:
  explicit BlockImpl(Sizes const& sizes)
      : attention_norm_(register_module("attention_norm", Norm(sizes.width))),
        attention_(register_module("attention", Attention(sizes.width, sizes.heads))),
        feed_norm_(register_module("feed_norm", Norm(sizes.width))),
        feed_(register_module("feed",
                              nn::Sequential(nn::Linear(sizes.width, 4 * sizes.width),
                                             nn::GELU(),
                                             nn::Dropout(dropout),
                                             nn::Linear(4 * sizes.width, sizes.width)))),
        dropout_(register_module("dropout", nn::Dropout(dropout))) {}

  Tensor forward(Tensor const& input, Tensor const& visible) {
    auto const x = input + dropout_(attention_(attention_norm_(input), visible));
    return dropout_(x + dropout_(feed_->forward(feed_norm_(x))));
  }

 private:
  Norm attention_norm_;
  Attention attention_;
  Norm feed_norm_;
  nn::Sequential feed_;
  nn::Dropout dropout_;
};

TORCH_MODULE(Block);

/// [1, length, width]: sines at even places, cosines at odd ones, of falling frequency.
Tensor positions_of(Sizes const& sizes) {
  auto const place = torch::arange(sizes.length).unsqueeze(1);
  auto const even = torch::arange(0, sizes.width, 2).to(torch::kFloat);
  auto const angles =
      place * torch::exp(even * (-std::log(10000.0) / static_cast<double>(sizes.width)));
  return torch::stack({angles.sin(), angles.cos()}, 2).view({1, sizes.length, sizes.width});
}

class BertImpl : public nn::Module {
 public:
  explicit BertImpl(Sizes const& sizes)
      : words_(register_module("words", embedding(sizes.words, sizes.width))),
        segments_(register_module("segments", embedding(3, sizes.width))),
        positions_(register_buffer("positions", positions_of(sizes))),
        dropout_(register_module("dropout", nn::Dropout(dropout))),
        next_head_(register_module("next_head", nn::Linear(sizes.width, 2))),
        word_head_(register_module("word_head", nn::Linear(sizes.width, sizes.words))) {
    for (std::int64_t layer = 0; layer < sizes.layers; ++layer)
      blocks_.emplace_back(register_module("block" + std::to_string(layer), Block(sizes)));
  }

  /// Log probabilities: next sentence [batch, 2], words [batch, length, words].
  std::vector<Tensor> forward(Tensor const& words, Tensor const& segments) {
    auto const visible =
        (words > padding_word).unsqueeze(1).repeat({1, words.size(1), 1}).unsqueeze(1);
    auto x = dropout_(words_(words) + positions_ + segments_(segments));
    for (auto& block : blocks_)
      x = block(x, visible);
    auto const first = x.index({Slice(), 0});
    return {torch::log_softmax(next_head_(first), -1), torch::log_softmax(word_head_(x), -1)};
  }

 private:
  static nn::Embedding embedding(std::int64_t rows, std::int64_t width) {
    return nn::Embedding(nn::EmbeddingOptions(rows, width).padding_idx(padding_word));
  }

  nn::Embedding words_, segments_;
  Tensor positions_;
  nn::Dropout dropout_;
  nn::Linear next_head_, word_head_;
  std::vector<Block> blocks_;
};

TORCH_MODULE(Bert);

struct Sentences {
  Tensor words, segments, masked, next;
};

/// Pairs of sentences that fill seven eighths of the length; a seventh of the words is masked, and
/// only those are to be predicted.
Sentences make_sentences(Setup const& setup, Sizes const& sizes) {
  auto const shape = std::vector<std::int64_t>{setup.batch, sizes.length};
  auto words = torch::randint(special_words, sizes.words, shape, torch::kLong);
  auto segments = torch::ones(shape, torch::kLong);
  auto masked = torch::full(shape, padding_word, torch::kLong);
  segments.index_put_({Slice(), Slice(sizes.length / 2)}, 2);
  masked.index_put_({Slice(), Slice(1, {}, 7)}, words.index({Slice(), Slice(1, {}, 7)}));
  words.index_put_({Slice(), Slice(1, {}, 7)}, mask_word);
  for (auto const& each : {words, segments, masked})
    each.index({Slice(), Slice(sizes.length * 7 / 8)}).fill_(padding_word);
  auto const next = torch::randint(2, {setup.batch}, torch::kLong);
  return {setup.place(words), setup.place(segments), setup.place(masked), setup.place(next)};
}

}  // namespace

std::unique_ptr<Workload> make_BERT_pytorch(Setup const& setup) {
  auto const sizes =
      setup.pick(Sizes{20000 + special_words, 128, 768, 12, 12}, Sizes{1000, 32, 64, 2, 2});
  Bert network(sizes);
  setup.place(*network);
  auto const batch = make_sentences(setup, sizes);

  Supervised parts;
  parts.network = network.ptr();
  parts.forward = [network, batch]() mutable {
    return network->forward(batch.words, batch.segments);
  };
  parts.loss = [batch](auto const& outputs) {
    auto const only_masked = nn::functional::NLLLossFuncOptions().ignore_index(padding_word);
    return torch::nll_loss(outputs[0], batch.next) +
           nn::functional::nll_loss(outputs[1].transpose(1, 2), batch.masked, only_masked);
  };
  parts.optimizer = std::make_unique<torch::optim::Adam>(
      network->parameters(), torch::optim::AdamOptions(1e-4).weight_decay(0.01));
  return make_supervised(setup.test, std::move(parts));
}

}  // namespace torchwatch::suite::BERT_pytorch
