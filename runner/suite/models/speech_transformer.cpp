// Speech-Transformer: Dong et al., "Speech-Transformer: A No-Recurrence Sequence-to-Sequence Model
// for Speech Recognition", 2018 (ICASSP), after kaituoxu/Speech-Transformer as TorchBench runs it
// on AISHELL: 6 layers a side of width 512 with 8 heads, one table of 1014 characters for input and
// output. Train: cross entropy of smoothed labels over utterances [batch, 204, 320] of 21
// characters. Eval: beam search for one utterance [1, 97, 320]: 5 hypotheses, each decoded by
// itself, and again for each of up to 100 characters; the choice is the host's, as upstream's.
// Smoke: 2 layers of width 64 with 2 heads, 24 frames, 8 of 100 characters, 3 hypotheses.
// Upstream's batch is cut to ten utterances by its loader; its falling learning rate and its second
// pass without dropout are left out. Masks, targets and hypotheses are made and compared as
// upstream does it, with all that it asks the device for.

#include <algorithm>
#include <cmath>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "runner/suite/blocks/speech_layers.h"
#include "runner/suite/blocks/transformer.h"
#include "runner/suite/supervised.h"

namespace torchwatch::suite::speech_transformer {
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
  std::int64_t frames, length;  ///< sizes of the longest utterance in training
  std::int64_t spoken_frames, decoded, beam;
};

enum class Side { encoder, decoder };

/// [batch, length, 1] for `x`, [batch, length, width]: 0 for padding, else 1.
Tensor present_of(Tensor const& x, Tensor const& lengths) {
  auto present = x.new_ones({x.size(0), x.size(1)});
  for (std::int64_t i = 0; i < x.size(0); ++i)
    present.index_put_({i, Slice(lengths[i].item<std::int64_t>(), {})}, 0);
  return present.unsqueeze(-1);
}

/// [batch, rows, length] for `x`, [batch, length, width]: true for padding.
Tensor padding_of(Tensor const& x, Tensor const& lengths, std::int64_t rows) {
  return present_of(x, lengths).squeeze(-1).lt(1).unsqueeze(1).expand({-1, rows, -1});
}

/// [batch, length, length] for `characters`, [batch, length]: 1 for those that come later, else 0.
Tensor later_of(Tensor const& characters) {
  auto const length = characters.size(1);
  auto const whole = torch::ones({length, length}, characters.options().dtype(torch::kByte));
  return torch::triu(whole, 1).unsqueeze(0).expand({characters.size(0), -1, -1});
}

std::vector<SpeechLayer> add_layers(nn::Module& parent, Sizes const& sizes, Side side) {
  SpeechLayerOptions options;
  options.width = sizes.width;
  options.heads = sizes.heads;
  options.feed_width = sizes.feed_width;
  options.dropout = dropout;
  options.cross = side == Side::decoder;
  std::vector<SpeechLayer> layers;
  for (std::int64_t layer = 0; layer < sizes.layers; ++layer)
    layers.emplace_back(
        parent.register_module("layer" + std::to_string(layer), SpeechLayer(options)));
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

  /// `lengths`: [batch], frames.
  Tensor forward(Tensor const& features, Tensor const& lengths) {
    auto const present = present_of(features, lengths);
    SpeechMasks const masks{padding_of(features, lengths, features.size(1)), {}};
    auto x = dropout_(norm_(input_(features)) + positions_.index({Slice({}, features.size(1))}));
    for (auto& layer : layers_)
      x = layer(x, present, Tensor(), masks);
    return x;
  }

 private:
  nn::Linear input_;
  nn::LayerNorm norm_;
  Tensor positions_;
  nn::Dropout dropout_;
  std::vector<SpeechLayer> layers_;
};

TORCH_MODULE(Encoder);

class DecoderImpl : public nn::Module {
 public:
  explicit DecoderImpl(Sizes const& sizes)
      : scale_(std::sqrt(static_cast<double>(sizes.width))),
        characters_(register_module("characters", nn::Embedding(sizes.characters, sizes.width))),
        positions_(register_buffer(
            "positions", sinusoidal_positions(positions, sizes.width, Sinusoid::interleaved))),
        dropout_(register_module("dropout", nn::Dropout(dropout))),
        layers_(add_layers(*this, sizes, Side::decoder)) {}

  /// The last layer's output for `characters`, [batch, length, width].
  Tensor forward(Tensor const& characters,
                 Tensor const& present,
                 Tensor const& memory,
                 SpeechMasks const& masks) {
    auto const places = positions_.index({Slice({}, characters.size(1))});
    auto x = dropout_(characters_(characters) * scale_ + places);
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
  nn::Dropout dropout_;
  std::vector<SpeechLayer> layers_;
};

TORCH_MODULE(Decoder);

/// Rows of one dimension, filled up to the longest.
Tensor pad(std::vector<Tensor> const& rows, std::int64_t filling) {
  std::int64_t longest = 0;
  for (auto const& row : rows)
    longest = std::max(longest, row.size(0));
  auto const count = static_cast<std::int64_t>(rows.size());
  auto padded = torch::empty({count, longest}, rows.front().options()).fill_(filling);
  for (std::int64_t i = 0; i < count; ++i) {
    auto const& row = rows[static_cast<std::size_t>(i)];
    padded.index_put_({i, Slice({}, row.size(0))}, row);
  }
  return padded;
}

/// A decoder's input and the characters it should predict, [batch, length + 1] each.
struct Dictation {
  Tensor input, truth;
};

/// `spoken`: [batch, length], `ignored` behind the end.
Dictation dictate(Tensor const& spoken) {
  auto const start = torch::tensor({start_character}, spoken.options());
  auto const end = torch::tensor({end_character}, spoken.options());
  std::vector<Tensor> inputs, truths;
  for (auto const& row : spoken.unbind()) {
    auto const characters = row.index({row != ignored});
    inputs.push_back(torch::cat({start, characters}));
    truths.push_back(torch::cat({characters, end}));
  }
  return {pad(inputs, end_character), pad(truths, ignored)};
}

/// [1, 1] on the device of `like`.
Tensor single(std::int64_t character, Tensor const& like) {
  return torch::ones({1, 1}).fill_(character).type_as(like).to(torch::kLong);
}

struct Hypothesis {
  Tensor score;       ///< a scalar on the device; undefined for 0
  Tensor characters;  ///< [1, length], on the device
};

void sort_by_score(std::vector<Hypothesis>& hypotheses) {
  std::ranges::stable_sort(hypotheses, [](auto const& left, auto const& right) {
    return (right.score < left.score).is_nonzero();
  });
}

bool is_open(Hypothesis const& hypothesis) {
  return !(hypothesis.characters.index({0, -1}) == end_character).is_nonzero();
}

class RecogniserImpl : public nn::Module {
 public:
  explicit RecogniserImpl(Sizes const& sizes)
      : encoder_(register_module("encoder", Encoder(sizes))),
        decoder_(register_module("decoder", Decoder(sizes))) {
    for (auto& parameter : this->parameters())
      if (parameter.dim() > 1) nn::init::xavier_uniform_(parameter);
  }

  /// Logits, [batch, length + 1, characters], and what they should say. `lengths`: [batch], frames.
  /// `spoken`: [batch, length], `ignored` behind the end.
  std::vector<Tensor> forward(Tensor const& features, Tensor const& lengths, Tensor const& spoken) {
    auto const memory = encoder_(features, lengths);
    auto const [input, truth] = dictate(spoken);
    auto const rows = input.size(1);
    auto const present = input.ne(end_character).to(torch::kFloat).unsqueeze(-1);
    auto const later = later_of(input);
    auto const padding = input.eq(end_character).unsqueeze(1).expand({-1, rows, -1});
    SpeechMasks const masks{(padding + later).gt(0), padding_of(memory, lengths, rows)};
    return {decoder_->predict(decoder_(input, present, memory, masks)), truth};
  }

  /// The likeliest characters of one utterance, [frames, width], that beam search finds, from start
  /// to end.
  Hypothesis recognise(Tensor const& features, Tensor const& length, Sizes const& sizes) {
    auto const memory = encoder_(features.unsqueeze(0), length)[0].unsqueeze(0);
    std::vector<Hypothesis> open(1);
    std::vector<Hypothesis> ended;
    open.front().characters = single(start_character, memory);
    for (std::int64_t round = 1; round <= sizes.decoded && !open.empty(); ++round) {
      open = extend_all(open, memory, sizes.beam);
      if (round == sizes.decoded)
        for (auto& each : open)
          each.characters = torch::cat({each.characters, single(end_character, memory)}, 1);
      auto const closed = std::ranges::stable_partition(open, is_open);
      ended.insert(ended.end(), closed.begin(), closed.end());
      open.erase(closed.begin(), closed.end());
    }
    sort_by_score(ended);
    return {ended.front().score, ended.front().characters[0].cpu()};
  }

 private:
  /// The best `beam` of all that are one character longer.
  std::vector<Hypothesis> extend_all(std::vector<Hypothesis> const& open,
                                     Tensor const& memory,
                                     std::int64_t beam) {
    std::vector<Hypothesis> best;
    for (auto const& hypothesis : open) {
      extend(hypothesis, memory, beam, best);
      sort_by_score(best);
      best.resize(std::min(best.size(), static_cast<std::size_t>(beam)));
    }
    return best;
  }

  void extend(Hypothesis const& hypothesis,
              Tensor const& memory,
              std::int64_t beam,
              std::vector<Hypothesis>& longer) {
    auto const& spoken = hypothesis.characters;
    auto const present = torch::ones_like(spoken).to(torch::kFloat).unsqueeze(-1);
    auto const x = decoder_(spoken, present, memory, SpeechMasks{later_of(spoken), {}});
    auto const logits = decoder_->predict(x.index({Slice(), -1}));
    auto const [scores, characters] = torch::log_softmax(logits, 1).topk(beam, 1);
    auto const length = spoken.size(1);
    for (std::int64_t rank = 0; rank < beam; ++rank) {
      auto const gained = scores.index({0, rank});
      auto next = torch::ones({1, length + 1}).type_as(memory).to(torch::kLong);
      next.index_put_({Slice(), Slice({}, length)}, spoken);
      next.index_put_({Slice(), length}, characters.index({0, rank}).item<std::int64_t>());
      longer.push_back({hypothesis.score.defined() ? hypothesis.score + gained : gained, next});
    }
  }

  Encoder encoder_;
  Decoder decoder_;
};

TORCH_MODULE(Recogniser);

/// Cross entropy against labels that leave a tenth to all characters alike.
Tensor smoothed_loss(Tensor const& logits, Tensor const& truth) {
  auto const labels = truth.ne(ignored).to(torch::kLong) * truth;
  auto const classes = static_cast<double>(logits.size(1));
  auto const hot = torch::zeros_like(logits).scatter(1, labels.view({-1, 1}), 1);
  auto const wanted = hot * (1 - smoothing) + torch::rsub(hot, 1) * smoothing / classes;
  auto const likely = torch::log_softmax(logits, 1);
  auto const heard = truth.ne(ignored);
  auto const count = heard.sum().item<std::int64_t>();
  auto const losses = -(wanted * likely).sum(1);
  return losses.masked_select(heard).sum() / count;
}

std::int64_t count_right(Tensor const& logits, Tensor const& truth) {
  auto const right = std::get<1>(logits.max(1)).eq(truth);
  return right.masked_select(truth.ne(ignored)).sum().item<std::int64_t>();
}

std::unique_ptr<Workload> make_training(Setup const& setup, Sizes const& sizes) {
  Recogniser network(sizes);
  setup.place(*network);
  auto const falling = [&](std::int64_t longest) {
    return torch::linspace(longest, (longest + 1) / 2, setup.batch).to(torch::kLong);
  };
  auto const features = setup.place(torch::randn({setup.batch, sizes.frames, feature_width}));
  auto const lengths = setup.place(falling(sizes.frames));

  auto const place = torch::arange(sizes.length).unsqueeze(0);
  auto const spoken = setup.place(
      torch::randint(
          special_characters, sizes.characters, {setup.batch, sizes.length}, torch::kLong)
          .masked_fill(place >= falling(sizes.length).unsqueeze(1), ignored));

  Supervised parts;
  parts.network = network.ptr();
  parts.forward = [network, features, lengths, spoken]() mutable {
    return network->forward(features, lengths, spoken);
  };
  parts.loss = [](auto const& outputs) {
    auto const logits = outputs[0].view({-1, outputs[0].size(2)});
    auto const truth = outputs[1].contiguous().view(-1);
    auto loss = smoothed_loss(logits, truth);
    count_right(logits, truth);
    return loss;
  };
  parts.optimizer = std::make_unique<torch::optim::Adam>(
      network->parameters(), torch::optim::AdamOptions(5e-4).betas({0.9, 0.98}).eps(1e-9));
  return make_supervised(setup.test, std::move(parts));
}

std::unique_ptr<Workload> make_recognition(Setup const& setup, Sizes const& sizes) {
  Recogniser network(sizes);
  setup.place(*network);
  auto const utterances =
      setup.place(torch::randn({setup.batch, sizes.spoken_frames, feature_width}));
  auto const length = setup.place(torch::tensor({sizes.spoken_frames}, torch::kInt));

  Supervised parts;
  parts.network = network.ptr();
  parts.forward = [network, utterances, length, sizes]() mutable {
    std::vector<Tensor> scores;
    for (std::int64_t i = 0; i < utterances.size(0); ++i)
      scores.push_back(network->recognise(utterances[i], length, sizes).score);
    return scores;
  };
  return make_supervised(setup.test, std::move(parts));
}

}  // namespace

std::unique_ptr<Workload> make_speech_transformer(Setup const& setup) {
  auto const sizes = setup.pick(Sizes{1014, 512, 8, 2048, 6, 204, 21, 97, 100, 5},
                                Sizes{100, 64, 2, 128, 2, 24, 8, 24, 8, 3});
  return setup.test == Test::train ? make_training(setup, sizes) : make_recognition(setup, sizes);
}

}  // namespace torchwatch::suite::speech_transformer
