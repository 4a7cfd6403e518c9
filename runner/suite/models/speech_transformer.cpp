// Speech-Transformer: Dong et al., "Speech-Transformer: A No-Recurrence Sequence-to-Sequence Model
// for Speech Recognition", 2018 (ICASSP), after kaituoxu/Speech-Transformer as TorchBench runs it
// on AISHELL: 6 layers a side of width 512 with 8 heads, one table of 1014 characters for input and
// output. Train: cross entropy of smoothed labels over utterances [batch, 204, 320] of 21
// characters. Eval: beam search for one utterance [1, 97, 320]: 5 hypotheses, each decoded by
// itself and anew for each of up to 100 characters; the choice is the host's, as upstream's. Smoke:
// 2 layers of width 64 with 2 heads, 24 frames, 8 of 100 characters, 3 hypotheses. Upstream's batch
// is cut to ten utterances by its loader; its falling learning rate, its count of right characters
// and its second pass without dropout are left out.

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "runner/suite/blocks/transformer.h"
#include "runner/suite/supervised.h"

namespace torchwatch::suite {
namespace {

using torch::Tensor;
using torch::indexing::Slice;
namespace nn = torch::nn;

constexpr std::int64_t feature_width = 320;  // four frames of 80 mel filters
constexpr std::int64_t positions = 5000;
constexpr std::int64_t start_character = 1;
constexpr std::int64_t end_character = 2;
constexpr std::int64_t special_characters = 3;  // unknown, start, end
constexpr std::int64_t ignored = -1;
constexpr double dropout = 0.1;
constexpr double smoothing = 0.1;

struct Sizes {
  std::int64_t characters, width, heads, feed_width, layers;
  std::int64_t frames, length;  ///< of the longest utterance in training
  std::int64_t spoken_frames, decoded, beam;
};

enum class Side { encoder, decoder };

/// Adds a sublayer's output to its input and normalises; padding becomes 0 again.
class SumImpl : public nn::Module {
 public:
  explicit SumImpl(std::int64_t width)
      : norm_(register_module("norm", nn::LayerNorm(nn::LayerNormOptions({width})))),
        dropout_(register_module("dropout", nn::Dropout(dropout))) {}

  /// `present`: [batch, length, 1], 0 for padding.
  Tensor forward(Tensor const& x, Tensor const& sublayer, Tensor const& present) {
    return norm_(dropout_(sublayer) + x) * present;
  }

 private:
  nn::LayerNorm norm_;
  nn::Dropout dropout_;
};

TORCH_MODULE(Sum);

/// What the scores of a layer get added.
struct Masks {
  Tensor own;
  Tensor memory;
};

class LayerImpl : public nn::Module {
 public:
  LayerImpl(Sizes const& sizes, Side side)
      : attention_(register_module("attention", Attention(options(sizes)))),
        attention_sum_(register_module("attention_sum", Sum(sizes.width))),
        up_(register_module("up", nn::Linear(sizes.width, sizes.feed_width))),
        down_(register_module("down", nn::Linear(sizes.feed_width, sizes.width))),
        feed_sum_(register_module("feed_sum", Sum(sizes.width))) {
    if (side == Side::encoder) return;
    cross_ = register_module("cross", Attention(options(sizes)));
    cross_sum_ = register_module("cross_sum", Sum(sizes.width));
  }

  /// An encoder has no memory.
  Tensor forward(Tensor const& input,
                 Tensor const& present,
                 Tensor const& memory,
                 Masks const& masks) {
    auto x = attention_sum_(input, attention_(input, masks.own), present);
    if (memory.defined()) x = cross_sum_(x, cross_->attend(x, memory, masks.memory), present);
    return feed_sum_(x, down_(torch::relu(up_(x))), present);
  }

 private:
  static AttentionOptions options(Sizes const& sizes) {
    AttentionOptions options;
    options.width = sizes.width;
    options.heads = sizes.heads;
    options.dropout = dropout;
    return options;
  }

  Attention attention_;
  Sum attention_sum_;
  Attention cross_{nullptr};
  Sum cross_sum_{nullptr};
  nn::Linear up_, down_;
  Sum feed_sum_;
};

TORCH_MODULE(Layer);

std::vector<Layer> add_layers(nn::Module& parent, Sizes const& sizes, Side side) {
  std::vector<Layer> layers;
  for (std::int64_t layer = 0; layer < sizes.layers; ++layer)
    layers.push_back(parent.register_module("layer" + std::to_string(layer), Layer(sizes, side)));
  return layers;
}

class EncoderImpl : public nn::Module {
 public:
  explicit EncoderImpl(Sizes const& sizes)
      : input_(register_module("input", nn::Linear(feature_width, sizes.width))),
        norm_(register_module("norm", nn::LayerNorm(nn::LayerNormOptions({sizes.width})))),
        positions_(register_buffer(
            "positions", sinusoidal_positions(positions, sizes.width, Sinusoid::interleaved))),
        dropout_(register_module("dropout", nn::Dropout(dropout))),
        layers_(add_layers(*this, sizes, Side::encoder)) {}

  /// `present`: [batch, frames], 0 for padding.
  Tensor forward(Tensor const& features, Tensor const& present) {
    auto x = dropout_(norm_(input_(features)) + positions_.index({Slice({}, features.size(1))}));
    Masks const masks{padding_mask(present, x), {}};
    for (auto& layer : layers_)
      x = layer(x, present.unsqueeze(-1), Tensor(), masks);
    return x;
  }

 private:
  nn::Linear input_;
  nn::LayerNorm norm_;
  Tensor positions_;
  nn::Dropout dropout_;
  std::vector<Layer> layers_;
};

TORCH_MODULE(Encoder);

class DecoderImpl : public nn::Module {
 public:
  explicit DecoderImpl(Sizes const& sizes)
      : scale_(std::sqrt(static_cast<double>(sizes.width))),
        characters_(register_module("characters", nn::Embedding(sizes.characters, sizes.width))),
        positions_(register_buffer(
            "positions", sinusoidal_positions(positions, sizes.width, Sinusoid::interleaved))),
        causal_(register_buffer("causal", causal_mask(std::max(sizes.length + 1, sizes.decoded)))),
        dropout_(register_module("dropout", nn::Dropout(dropout))),
        layers_(add_layers(*this, sizes, Side::decoder)) {}

  /// What the last layer makes of `characters`, [batch, length, width]. The masks are for padding
  /// alone.
  Tensor forward(Tensor const& characters,
                 Tensor const& present,
                 Tensor const& memory,
                 Masks const& padding) {
    auto const until = Slice({}, characters.size(1));
    auto x = dropout_(characters_(characters) * scale_ + positions_.index({until}));
    auto const causal = causal_.index({Slice(), Slice(), until, until});
    Masks const masks{padding.own.defined() ? causal + padding.own : causal, padding.memory};
    for (auto& layer : layers_)
      x = layer(x, present, memory, masks);
    return x;
  }

  /// Logits of the next character.
  Tensor predict(Tensor const& x) { return torch::linear(x, characters_->weight); }

 private:
  double scale_;
  nn::Embedding characters_;
  Tensor positions_;
  Tensor causal_;
  nn::Dropout dropout_;
  std::vector<Layer> layers_;
};

TORCH_MODULE(Decoder);

struct Hypothesis {
  double score = 0;
  Tensor characters;  ///< [1, length], on the device
  std::int64_t last = start_character;
};

void sort_by_score(std::vector<Hypothesis>& hypotheses) {
  std::stable_sort(hypotheses.begin(), hypotheses.end(), [](auto const& left, auto const& right) {
    return left.score > right.score;
  });
}

class RecogniserImpl : public nn::Module {
 public:
  explicit RecogniserImpl(Sizes const& sizes)
      : encoder_(register_module("encoder", Encoder(sizes))),
        decoder_(register_module("decoder", Decoder(sizes))) {
    for (auto& parameter : this->parameters())
      if (parameter.dim() > 1) nn::init::xavier_uniform_(parameter);
  }

  /// Logits, [batch, length, characters]. `lengths`: [batch], frames.
  Tensor forward(Tensor const& features, Tensor const& lengths, Tensor const& characters) {
    auto const frame = torch::arange(features.size(1), lengths.options()).unsqueeze(0);
    auto const present = (frame < lengths.unsqueeze(1)).to(features.scalar_type());
    auto const memory = encoder_(features, present);
    auto const spoken = (characters != end_character).to(memory.scalar_type());
    Masks const padding{padding_mask(spoken, memory), padding_mask(present, memory)};
    return decoder_->predict(decoder_(characters, spoken.unsqueeze(-1), memory, padding));
  }

  /// The likeliest characters of one utterance that beam search finds, from start to end.
  Hypothesis recognise(Tensor const& features, Sizes const& sizes) {
    auto const memory = encoder_(features, torch::ones({1, features.size(1)}, features.options()));
    auto const whole = memory.options().dtype(torch::kLong);
    std::vector<Hypothesis> open(1);
    std::vector<Hypothesis> ended;
    open.front().characters = torch::full({1, 1}, start_character, whole);
    for (std::int64_t length = 1; length <= sizes.decoded && !open.empty(); ++length) {
      open = extend_all(open, memory, static_cast<std::size_t>(sizes.beam));
      if (length == sizes.decoded)
        for (auto& each : open)
          append(each, torch::full({1, 1}, end_character, whole), end_character);
      auto const first_ended = std::stable_partition(
          open.begin(), open.end(), [](auto const& each) { return each.last != end_character; });
      ended.insert(ended.end(), first_ended, open.end());
      open.erase(first_ended, open.end());
    }
    sort_by_score(ended);
    return ended.front();
  }

 private:
  static void append(Hypothesis& hypothesis, Tensor const& character, std::int64_t value) {
    hypothesis.characters = torch::cat({hypothesis.characters, character}, 1);
    hypothesis.last = value;
  }

  /// The best `beam` of all that are one character longer.
  std::vector<Hypothesis> extend_all(std::vector<Hypothesis> const& open,
                                     Tensor const& memory,
                                     std::size_t beam) {
    std::vector<Hypothesis> best;
    for (auto const& hypothesis : open) {
      extend(hypothesis, memory, beam, best);
      sort_by_score(best);
      best.resize(std::min(best.size(), beam));
    }
    return best;
  }

  void extend(Hypothesis const& hypothesis,
              Tensor const& memory,
              std::size_t beam,
              std::vector<Hypothesis>& longer) {
    auto const present = torch::ones({1, hypothesis.characters.size(1), 1}, memory.options());
    auto const x = decoder_(hypothesis.characters, present, memory, Masks());
    auto const scores = torch::log_softmax(decoder_->predict(x.index({Slice(), -1})), 1);
    auto const [values, characters] = scores.topk(static_cast<std::int64_t>(beam), 1);
    auto const host_values = values.to(torch::kCPU, torch::kDouble);
    auto const host_characters = characters.cpu();
    for (std::int64_t rank = 0; rank < characters.size(1); ++rank) {
      auto next = hypothesis;
      next.score += host_values[0][rank].item<double>();
      append(next, characters.narrow(1, rank, 1), host_characters[0][rank].item<std::int64_t>());
      longer.push_back(std::move(next));
    }
  }

  Encoder encoder_;
  Decoder decoder_;
};

TORCH_MODULE(Recogniser);

/// Cross entropy against labels that leave a tenth to all characters alike.
Tensor smoothed_loss(Tensor const& logits, Tensor const& truth) {
  auto const heard = truth != ignored;
  auto const classes = static_cast<double>(logits.size(1));
  auto const hot = torch::zeros_like(logits).scatter(1, (truth * heard).unsqueeze(1), 1);
  auto const wanted = hot * (1 - smoothing) + (1 - hot) * (smoothing / classes);
  auto const losses = -(wanted * torch::log_softmax(logits, 1)).sum(1);
  return losses.masked_select(heard).mean();
}

std::unique_ptr<Workload> make_training(Setup const& setup, Sizes const& sizes) {
  Recogniser network(sizes);
  setup.place(*network);
  auto const falling = [&](std::int64_t longest) {
    return torch::linspace(longest, (longest + 1) / 2, setup.batch).to(torch::kLong);
  };
  auto const features = setup.place(torch::randn({setup.batch, sizes.frames, feature_width}));
  auto const lengths = setup.place(falling(sizes.frames));

  auto const spoken = torch::randint(
      special_characters, sizes.characters, {setup.batch, sizes.length}, torch::kLong);
  auto const place = torch::arange(sizes.length + 1).unsqueeze(0);
  auto const spoken_lengths = falling(sizes.length).unsqueeze(1);
  auto const input =
      nn::functional::pad(spoken, nn::functional::PadFuncOptions({1, 0}).value(start_character))
          .masked_fill(place > spoken_lengths, end_character);
  auto const output = nn::functional::pad(spoken, nn::functional::PadFuncOptions({0, 1}))
                          .masked_fill(place == spoken_lengths, end_character)
                          .masked_fill(place > spoken_lengths, ignored);
  auto const characters = setup.place(input);
  auto const truth = setup.place(output).flatten();

  Supervised parts;
  parts.network = network.ptr();
  parts.forward = [network, features, lengths, characters]() mutable {
    return std::vector<Tensor>{network->forward(features, lengths, characters)};
  };
  parts.loss = [truth](auto const& outputs) {
    return smoothed_loss(outputs[0].flatten(0, 1), truth);
  };
  parts.optimizer = std::make_unique<torch::optim::Adam>(
      network->parameters(), torch::optim::AdamOptions(5e-4).betas({0.9, 0.98}).eps(1e-9));
  return make_supervised(setup.test, std::move(parts));
}

std::unique_ptr<Workload> make_recognition(Setup const& setup, Sizes const& sizes) {
  Recogniser network(sizes);
  setup.place(*network);
  auto const utterances =
      setup.place(torch::randn({setup.batch, sizes.spoken_frames, feature_width})).split(1);

  Supervised parts;
  parts.network = network.ptr();
  parts.forward = [network, utterances, sizes]() mutable {
    std::vector<Tensor> scores;
    for (auto const& features : utterances) {
      auto const best = network->recognise(features, sizes);
      scores.push_back(torch::full({1}, best.score, features.options().dtype(torch::kFloat)));
    }
    return std::vector<Tensor>{torch::cat(scores)};
  };
  return make_supervised(setup.test, std::move(parts));
}

}  // namespace

std::unique_ptr<Workload> make_speech_transformer(Setup const& setup) {
  auto const sizes = setup.pick(Sizes{1014, 512, 8, 2048, 6, 204, 21, 97, 100, 5},
                                Sizes{100, 64, 2, 128, 2, 24, 8, 24, 8, 3});
  return setup.test == Test::train ? make_training(setup, sizes) : make_recognition(setup, sizes);
}

}  // namespace torchwatch::suite
