// Tacotron 2: Shen et al., "Natural TTS Synthesis by Conditioning WaveNet on Mel Spectrogram
// Predictions", 2017 (arXiv 1712.05884), after NVIDIA/tacotron2 as TorchBench runs it, without the
// vocoder: three convolutions and a bidirectional LSTM read 148 symbols; location-sensitive
// attention and two LSTM cells make a mel frame from the true one before it, in evaluation too;
// five convolutions refine the frames. Dropout before the decoder stays on in evaluation, as
// upstream's. Input: text [batch, 160], mel frames [batch, 80, 832] and where they end, about LJ
// Speech's longest. Smoke: a sixteenth of the width and less, 16 symbols, 20 frames.

#include <limits>
#include <tuple>
#include <utility>
#include <vector>

#include "runner/suite/supervised.h"

namespace torchwatch::suite::tacotron2 {
namespace {

using torch::Tensor;
using torch::indexing::Slice;
using Gain = torch::nn::init::NonlinearityType;
namespace nn = torch::nn;
namespace rnn = torch::nn::utils::rnn;

constexpr std::int64_t symbols = 148;
constexpr std::int64_t mels = 80;
constexpr std::int64_t kernel = 5;
constexpr std::int64_t encoder_convolutions = 3;
constexpr std::int64_t postnet_convolutions = 5;
constexpr std::int64_t location_kernel = 31;
constexpr double convolution_dropout = 0.5;
constexpr double prenet_dropout = 0.5;
constexpr double cell_dropout = 0.1;

struct Sizes {
  std::int64_t width;  ///< channels of symbols, of the encoder and of the postnet
  std::int64_t cell, prenet, attention, location_filters;
  std::int64_t text, frames;
};

nn::Linear linear(std::int64_t in, std::int64_t out, bool bias, Gain const& gain) {
  nn::Linear layer(nn::LinearOptions(in, out).bias(bias));
  nn::init::xavier_uniform_(layer->weight, nn::init::calculate_gain(gain));
  return layer;
}

nn::Conv1d convolution(
    std::int64_t in, std::int64_t out, std::int64_t size, bool bias, Gain const& gain) {
  nn::Conv1d layer(nn::Conv1dOptions(in, out, size).padding(size / 2).bias(bias));
  nn::init::xavier_uniform_(layer->weight, nn::init::calculate_gain(gain));
  return layer;
}

nn::Sequential make_encoder(std::int64_t width) {
  nn::Sequential layers;
  for (std::int64_t i = 0; i < encoder_convolutions; ++i) {
    layers->push_back(convolution(width, width, kernel, true, torch::kReLU));
    layers->push_back(nn::BatchNorm1d(width));
    layers->push_back(nn::ReLU());
    layers->push_back(nn::Dropout(convolution_dropout));
  }
  return layers;
}

nn::Sequential make_postnet(std::int64_t width) {
  nn::Sequential layers;
  for (std::int64_t i = 0; i < postnet_convolutions; ++i) {
    bool const last = i == postnet_convolutions - 1;
    auto const out = last ? mels : width;
    Gain const gain = last ? Gain(torch::kLinear) : Gain(torch::kTanh);
    layers->push_back(convolution(i == 0 ? mels : width, out, kernel, true, gain));
    layers->push_back(nn::BatchNorm1d(out));
    if (!last) layers->push_back(nn::Tanh());
    layers->push_back(nn::Dropout(convolution_dropout));
  }
  return layers;
}

/// [batch, longest]: true after the end.
Tensor padding_of(Tensor const& lengths) {
  auto const place = torch::arange(0, torch::max(lengths).item<std::int64_t>(), lengths.options());
  return torch::bitwise_not((place < lengths.unsqueeze(1)).to(torch::kBool));
}

/// Looks at the text where the query, the text itself and what was looked at before say.
class AttentionImpl : public nn::Module {
 public:
  explicit AttentionImpl(Sizes const& sizes)
      : query_(register_module("query", linear(sizes.cell, sizes.attention, false, torch::kTanh))),
        memory_(
            register_module("memory", linear(sizes.width, sizes.attention, false, torch::kTanh))),
        score_(register_module("score", linear(sizes.attention, 1, false, torch::kLinear))),
        location_filters_(register_module(
            "location_filters",
            convolution(2, sizes.location_filters, location_kernel, false, torch::kLinear))),
        location_(register_module(
            "location", linear(sizes.location_filters, sizes.attention, false, torch::kTanh))) {}

  Tensor project(Tensor const& memory) { return memory_(memory); }

  /// Weights, [batch, text]. `query`: [batch, cell]. `projected`: [batch, text, attention].
  /// `before`: the last weights and the sum of all, [batch, 2, text].
  Tensor forward(Tensor const& query,
                 Tensor const& projected,
                 Tensor const& before,
                 Tensor const& padding) {
    auto const location = location_(location_filters_(before).transpose(1, 2));
    auto const sum = query_(query.unsqueeze(1)) + location + projected;
    auto const scores = score_(torch::tanh(sum)).squeeze(-1);
    constexpr double never = -std::numeric_limits<double>::infinity();
    scores.data().masked_fill_(padding, never);
    return torch::softmax(scores, 1);
  }

 private:
  nn::Linear query_, memory_, score_;
  nn::Conv1d location_filters_;
  nn::Linear location_;
};

TORCH_MODULE(Attention);

/// [batch, width] on the device of `like`.
Tensor zeros_beside(Tensor const& like, std::int64_t width) {
  return torch::empty({like.size(0), width}, like.options()).zero_();
}

/// An LSTM cell and its dropout.
class CellImpl : public nn::Module {
 public:
  CellImpl(std::int64_t in, std::int64_t width)
      : width_(width),
        cell_(register_module("cell", nn::LSTMCell(in, width))),
        dropout_(register_module("dropout", nn::Dropout(cell_dropout))) {}

  using State = std::tuple<Tensor, Tensor>;

  State start(Tensor const& like) const {
    return {zeros_beside(like, width_), zeros_beside(like, width_)};
  }

  State forward(Tensor const& input, State const& state) {
    auto const [hidden, memory] = cell_(input, state);
    return {dropout_(hidden), memory};
  }

 private:
  std::int64_t width_;
  nn::LSTMCell cell_;
  nn::Dropout dropout_;
};

TORCH_MODULE(Cell);

struct Speech {
  Tensor frames;   ///< [batch, 80, frames]
  Tensor gates;    ///< [batch, frames]: logits of the end
  Tensor weights;  ///< [batch, frames, text]: where it looked
};

class DecoderImpl : public nn::Module {
 public:
  explicit DecoderImpl(Sizes const& sizes)
      : prenet_first_(
            register_module("prenet_first", linear(mels, sizes.prenet, false, torch::kLinear))),
        prenet_second_(register_module("prenet_second",
                                       linear(sizes.prenet, sizes.prenet, false, torch::kLinear))),
        attention_cell_(
            register_module("attention_cell", Cell(sizes.prenet + sizes.width, sizes.cell))),
        attention_(register_module("attention", Attention(sizes))),
        decoder_cell_(register_module("decoder_cell", Cell(sizes.cell + sizes.width, sizes.cell))),
        frame_(
            register_module("frame", linear(sizes.cell + sizes.width, mels, true, torch::kLinear))),
        gate_(register_module("gate", linear(sizes.cell + sizes.width, 1, true, torch::kSigmoid))) {
  }

  /// `memory`: [batch, text, width]; `frames`: the true ones, [batch, 80, frames].
  Speech forward(Tensor const& memory, Tensor const& frames, Tensor const& padding) {
    auto const silence = zeros_beside(memory, mels).unsqueeze(0);
    auto const truth =
        frames.transpose(1, 2).view({frames.size(0), frames.size(2), -1}).transpose(0, 1);
    auto const inputs = prenet(torch::cat({silence, truth}));
    auto const projected = attention_->project(memory);
    auto state = start(memory);
    std::vector<Tensor> made, gates, weights;
    for (std::int64_t frame = 0; frame < frames.size(2); ++frame) {
      auto const features = decode(inputs[frame], memory, projected, padding, state);
      made.push_back(frame_(features).squeeze(1));
      gates.push_back(gate_(features).squeeze(1));
      weights.push_back(state.weights);
    }
    auto const speech = torch::stack(made).transpose(0, 1).contiguous();
    return {speech.view({speech.size(0), -1, mels}).transpose(1, 2),
            torch::stack(gates).transpose(0, 1).contiguous(),
            torch::stack(weights).transpose(0, 1)};
  }

 private:
  struct State {
    CellImpl::State attention, decoder;
    Tensor weights;  ///< [batch, text]
    Tensor looked;   ///< sum of all weights
    Tensor context;  ///< [batch, width]
  };

  State start(Tensor const& memory) {
    return {attention_cell_->start(memory),
            decoder_cell_->start(memory),
            zeros_beside(memory, memory.size(1)),
            zeros_beside(memory, memory.size(1)),
            zeros_beside(memory, memory.size(2))};
  }

  Tensor prenet(Tensor const& frames) {
    constexpr bool always = true;
    auto const x = torch::dropout(torch::relu(prenet_first_(frames)), prenet_dropout, always);
    return torch::dropout(torch::relu(prenet_second_(x)), prenet_dropout, always);
  }

  /// One step: what frame and gate are made of, [batch, cell + width].
  Tensor decode(Tensor const& input,
                Tensor const& memory,
                Tensor const& projected,
                Tensor const& padding,
                State& state) {
    state.attention = attention_cell_(torch::cat({input, state.context}, 1), state.attention);
    auto const query = std::get<0>(state.attention);
    auto const before = torch::cat({state.weights.unsqueeze(1), state.looked.unsqueeze(1)}, 1);
    state.weights = attention_(query, projected, before, padding);
    state.context = torch::bmm(state.weights.unsqueeze(1), memory).squeeze(1);
    state.looked += state.weights;
    state.decoder = decoder_cell_(torch::cat({query, state.context}, 1), state.decoder);
    return torch::cat({std::get<0>(state.decoder), state.context}, 1);
  }

  nn::Linear prenet_first_, prenet_second_;
  Cell attention_cell_;
  Attention attention_;
  Cell decoder_cell_;
  nn::Linear frame_, gate_;
};

TORCH_MODULE(Decoder);

struct Batch {
  Tensor text, text_lengths;
  Tensor frames, frame_lengths, gates;
};

class TacotronImpl : public nn::Module {
 public:
  explicit TacotronImpl(Sizes const& sizes)
      : symbols_(register_module("symbols", nn::Embedding(symbols, sizes.width))),
        encoder_(register_module("encoder", make_encoder(sizes.width))),
        lstm_(register_module("lstm",
                              nn::LSTM(nn::LSTMOptions(sizes.width, sizes.width / 2)
                                           .batch_first(true)
                                           .bidirectional(true)))),
        decoder_(register_module("decoder", Decoder(sizes))),
        postnet_(register_module("postnet", make_postnet(sizes.width))) {
    nn::init::xavier_uniform_(symbols_->weight);
  }

  /// Frames, refined frames, gates, where it looked; as if perfect where padded, which gradients do
  /// not know.
  std::vector<Tensor> forward(Batch const& batch) {
    auto const memory = encode(batch);
    auto const speech = decoder_(memory, batch.frames, padding_of(batch.text_lengths));
    auto const refined = speech.frames + postnet_->forward(speech.frames);

    constexpr double surely_ended = 1e3;
    auto const padding = padding_of(batch.frame_lengths);
    auto const padded = padding.expand({mels, padding.size(0), padding.size(1)}).permute({1, 0, 2});
    speech.frames.data().masked_fill_(padded, 0);
    refined.data().masked_fill_(padded, 0);
    speech.gates.data().masked_fill_(padded.select(1, 0), surely_ended);
    return {speech.frames, refined, speech.gates, speech.weights};
  }

 private:
  Tensor encode(Batch const& batch) {
    auto const x = encoder_->forward(symbols_(batch.text).transpose(1, 2)).transpose(1, 2);
    auto const packed = rnn::pack_padded_sequence(x, batch.text_lengths.cpu(), true);
    lstm_->flatten_parameters();
    auto const output = std::get<0>(lstm_->forward_with_packed_input(packed));
    return std::get<0>(rnn::pad_packed_sequence(output, true));
  }

  nn::Embedding symbols_;
  nn::Sequential encoder_;
  nn::LSTM lstm_;
  Decoder decoder_;
  nn::Sequential postnet_;
};

TORCH_MODULE(Tacotron);

/// Sentences from longest to a quarter of that, their mel frames in proportion; padded with zeros.
Batch make_batch(Setup const& setup, Sizes const& sizes) {
  auto const falling = [&](std::int64_t longest) {
    return torch::linspace(longest, (longest + 3) / 4, setup.batch).to(torch::kLong);
  };
  Batch batch;
  auto const text_lengths = falling(sizes.text);
  auto const frame_lengths = falling(sizes.frames);
  auto const text = torch::randint(1, symbols, {setup.batch, sizes.text}, torch::kLong)
                        .masked_fill(padding_of(text_lengths), 0);
  auto const padding = padding_of(frame_lengths);
  auto const frames =
      (torch::randn({setup.batch, mels, sizes.frames}) - 5).masked_fill(padding.unsqueeze(1), 0);
  auto const last = torch::arange(sizes.frames) >= frame_lengths.unsqueeze(1) - 1;
  auto const gates = last.to(torch::kFloat);

  batch.text = setup.place(text);
  batch.text_lengths = setup.place(text_lengths);
  batch.frames = setup.place(frames);
  batch.frame_lengths = setup.place(frame_lengths);
  batch.gates = setup.place(gates);
  return batch;
}

}  // namespace

std::unique_ptr<Workload> make_tacotron2(Setup const& setup) {
  auto const sizes =
      setup.pick(Sizes{512, 1024, 256, 128, 32, 160, 832}, Sizes{32, 64, 16, 16, 8, 16, 20});
  Tacotron network(sizes);
  setup.place(*network);
  auto const batch = make_batch(setup, sizes);

  Supervised parts;
  parts.network = network.ptr();
  parts.forward = [network, batch]() mutable {
    return network->forward(batch);
  };
  parts.loss = [batch](auto const& outputs) {
    return torch::mse_loss(outputs[0], batch.frames) + torch::mse_loss(outputs[1], batch.frames) +
           torch::binary_cross_entropy_with_logits(outputs[2].view({-1, 1}),
                                                   batch.gates.view({-1, 1}));
  };
  parts.optimizer = std::make_unique<torch::optim::Adam>(
      network->parameters(), torch::optim::AdamOptions(1e-3).weight_decay(1e-6));
  return make_supervised(setup.test, std::move(parts));
}

}  // namespace torchwatch::suite::tacotron2
