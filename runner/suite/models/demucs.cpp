// Demucs: Défossez et al., "Music Source Separation in the Waveform Domain", 2019 (arXiv
// 1911.13254), after facebookresearch/demucs as TorchBench runs it: six convolutions down from 64
// channels, each with a gate, a bidirectional LSTM of two layers and six transposed convolutions
// up. Train: four sources, their signs, channels and offsets drawn and shuffled within groups of
// four tracks in each step; the absolute error of what the network makes of their sum; Adam. Eval:
// the error too, without drawing. Input: tracks [batch, 5, 2, 426888], the first stream unused.
// Smoke: 4 convolutions from 8 channels, 4096 samples. Upstream switched its training off for want
// of memory.

#include <string>
#include <tuple>
#include <vector>

#include "runner/suite/supervised.h"

namespace torchwatch::suite::demucs {
namespace {

using torch::Tensor;
using torch::indexing::Ellipsis;
using torch::indexing::Slice;
namespace nn = torch::nn;

constexpr std::int64_t sources = 4;
constexpr std::int64_t audio_channels = 2;
constexpr std::int64_t kernel = 8;
constexpr std::int64_t stride = 4;
constexpr std::int64_t context = 3;  // frames seen by a decoder's gate
constexpr std::int64_t lstm_layers = 2;
constexpr std::int64_t remix_group = 4;

struct Sizes {
  std::int64_t channels, depth, samples, shift;
};

/// The middle of `x`, as long as `reference`.
Tensor trim(Tensor const& x, Tensor const& reference) {
  auto const excess = x.size(-1) - reference.size(-1);
  if (excess == 0) return x;
  return x.index({Ellipsis, Slice(excess / 2, excess / 2 - excess)});
}

class RecurrenceImpl : public nn::Module {
 public:
  explicit RecurrenceImpl(std::int64_t width)
      : lstm_(register_module(
            "lstm",
            nn::LSTM(nn::LSTMOptions(width, width).num_layers(lstm_layers).bidirectional(true)))),
        linear_(register_module("linear", nn::Linear(2 * width, width))) {}

  /// [batch, width, time], both ways.
  Tensor forward(Tensor const& x) {
    return linear_(std::get<0>(lstm_(x.permute({2, 0, 1})))).permute({1, 2, 0});
  }

  /// Puts the weights into one piece of memory again after they were moved.
  void flatten() { lstm_->flatten_parameters(); }

 private:
  nn::LSTM lstm_;
  nn::Linear linear_;
};

TORCH_MODULE(Recurrence);

nn::Sequential make_encoder(std::int64_t in, std::int64_t channels) {
  return nn::Sequential(nn::Conv1d(nn::Conv1dOptions(in, channels, kernel).stride(stride)),
                        nn::ReLU(),
                        nn::Conv1d(channels, 2 * channels, 1),
                        nn::GLU(nn::GLUOptions(1)));
}

nn::Sequential make_decoder(std::int64_t channels, std::int64_t out, bool last) {
  nn::Sequential decoder(
      nn::Conv1d(channels, 2 * channels, context),
      nn::GLU(nn::GLUOptions(1)),
      nn::ConvTranspose1d(nn::ConvTranspose1dOptions(channels, out, kernel).stride(stride)));
  if (!last) decoder->push_back(nn::ReLU());
  return decoder;
}

/// Brings the deviation of a convolution's weights nearer to 0.1.
template <class Convolution>
void rescale(Convolution& convolution) {
  auto const scale = (convolution.weight.std() / 0.1).sqrt();
  convolution.weight.div_(scale);
  convolution.bias.div_(scale);
}

class DemucsImpl : public nn::Module {
 public:
  explicit DemucsImpl(Sizes const& sizes) {
    std::int64_t in = audio_channels;
    std::int64_t channels = sizes.channels;
    for (std::int64_t level = 0; level < sizes.depth; ++level) {
      auto const out = level == 0 ? sources * audio_channels : in;
      auto const name = std::to_string(level);
      encoders_.emplace_back(register_module("encoder" + name, make_encoder(in, channels)));
      decoders_.emplace_back(
          register_module("decoder" + name, make_decoder(channels, out, level == 0)));
      in = channels;
      channels *= 2;
    }
    recurrence_ = register_module("recurrence", Recurrence(in));

    torch::NoGradGuard const no_gradients;
    for (auto const& module : modules(false)) {
      if (auto* down = module->as<nn::Conv1d>()) rescale(*down);
      if (auto* up = module->as<nn::ConvTranspose1d>()) rescale(*up);
    }
  }

  /// [batch, 2, time] -> [batch, sources, 2, a little less time].
  Tensor forward(Tensor const& mix) {
    std::vector<Tensor> skipped;
    auto x = mix;
    for (auto& encoder : encoders_) {
      x = encoder->forward(x);
      skipped.push_back(x);
    }
    x = recurrence_(x);
    for (auto level = decoders_.size(); level-- > 0;)
      x = decoders_[level]->forward(Tensor(x + trim(skipped[level], x)));
    return x.view({x.size(0), sources, audio_channels, x.size(-1)});
  }

  void flatten() { recurrence_->flatten(); }

 private:
  std::vector<nn::Sequential> encoders_, decoders_;  // finest first
  Recurrence recurrence_{nullptr};
};

TORCH_MODULE(Demucs);

/// One number a source, drawn from 0 to `end` exclusively: [batch, sources, 1, 1].
Tensor draw(Tensor const& x, std::int64_t end, torch::Dtype dtype) {
  return torch::randint(end, {x.size(0), x.size(1), 1, 1}, x.options().dtype(dtype));
}

Tensor flip_signs(Tensor const& x) {
  return x * (2 * draw(x, 2, x.scalar_type()) - 1);
}

Tensor flip_channels(Tensor const& x) {
  auto const left = draw(x, 2, torch::kLong).expand({-1, -1, -1, x.size(3)});
  return torch::cat({x.gather(2, left), x.gather(2, torch::rsub(left, 1))}, 2);
}

/// Cuts `most` samples off, as many of them at the beginning as drawn.
Tensor shift(Tensor const& x, std::int64_t most) {
  auto const offset = draw(x, most, torch::kLong).expand({-1, -1, x.size(2), -1});
  auto const place = torch::arange(x.size(3) - most, offset.options());
  return x.gather(3, place + offset);
}

/// Shuffles each source among the tracks of a group.
Tensor remix(Tensor const& x) {
  auto const groups = x.size(0) / remix_group;
  auto const grouped = x.view({groups, remix_group, x.size(1), x.size(2), x.size(3)});
  auto const order =
      torch::rand({groups, remix_group, x.size(1), 1, 1}, x.options()).argsort(std::int64_t{1});
  return grouped.gather(1, order.expand({-1, -1, -1, x.size(2), x.size(3)})).view(x.sizes());
}

Tensor augment(Tensor const& x, std::int64_t most_shift) {
  return remix(shift(flip_channels(flip_signs(x)), most_shift));
}

/// Noise, [batch, 1 + sources, 2, samples]. Each source is half as loud as the one before, so that
/// there is something to learn.
Tensor make_tracks(std::int64_t batch, std::int64_t samples) {
  auto const loudness = torch::pow(0.5, torch::arange(-1, sources)).view({1 + sources, 1, 1});
  return (torch::rand({batch, 1 + sources, audio_channels, samples}) * 2 - 1).mul_(loudness);
}

}  // namespace

std::unique_ptr<Workload> make_demucs(Setup const& setup) {
  auto const sizes = setup.pick(Sizes{64, 6, 426888, 44100}, Sizes{4, 4, 2048, 256});
  Demucs network(sizes);
  setup.place(*network);
  network->flatten();
  auto const tracks = setup.place(make_tracks(setup.batch, sizes.samples));

  Supervised parts;
  parts.network = network.ptr();
  parts.forward = [network, tracks, sizes]() mutable {
    auto const streams = tracks.index({Slice(), Slice(1)});
    auto const until = Slice({}, sizes.samples - sizes.shift);
    auto const truth =
        network->is_training() ? augment(streams, sizes.shift) : streams.index({Ellipsis, until});
    auto const estimates = network->forward(truth.sum(1));
    return std::vector<Tensor>{estimates, torch::l1_loss(estimates, trim(truth, estimates))};
  };
  parts.loss = [](auto const& outputs) {
    return outputs[1];
  };
  parts.optimizer = make_adam(*network, 3e-4);
  return make_supervised(setup.test, std::move(parts));
}

}  // namespace torchwatch::suite::demucs
