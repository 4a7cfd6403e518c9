// Speaker encoder of mozilla/TTS as TorchBench's tts_angular runs it: three LSTM layers, each with
// a projection, and the angular prototypical loss (Chung et al., "In defence of metric learning for
// speaker recognition", 2020, arXiv 2003.11982). RAdam trains it, which LibTorch does not have.
// Input: mel frames [batch, 50, 40]; in training the batch holds two utterances of each speaker,
// because one leaves upstream's anchor the mean of nothing. Smoke: 20 frames, layers of 96
// projected to 32.

#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "runner/suite/supervised.h"

namespace torchwatch::suite::tts_angular {
namespace {

using torch::Tensor;
using torch::indexing::Slice;
namespace nn = torch::nn;

constexpr std::int64_t mels = 40;
constexpr std::int64_t layers = 3;
constexpr std::int64_t utterances = 2;

struct Sizes {
  std::int64_t frames, hidden, projected;
};

class ProjectedLstmImpl : public nn::Module {
 public:
  ProjectedLstmImpl(std::int64_t in, Sizes const& sizes)
      : lstm_(
            register_module("lstm", nn::LSTM(nn::LSTMOptions(in, sizes.hidden).batch_first(true)))),
        projection_(register_module(
            "projection",
            nn::Linear(nn::LinearOptions(sizes.hidden, sizes.projected).bias(false)))) {}

  Tensor forward(Tensor const& frames) {
    lstm_->flatten_parameters();
    return projection_(std::get<0>(lstm_(frames)));
  }

 private:
  nn::LSTM lstm_;
  nn::Linear projection_;
};

TORCH_MODULE(ProjectedLstm);

nn::Sequential make_encoder(Sizes const& sizes) {
  nn::Sequential encoder;
  for (std::int64_t layer = 0; layer < layers; ++layer)
    encoder->push_back(ProjectedLstm(layer == 0 ? mels : sizes.projected, sizes));
  for (auto const& parameter : encoder->named_parameters()) {
    if (parameter.key().find("bias") != std::string::npos)
      nn::init::zeros_(parameter.value());
    else
      nn::init::xavier_normal_(parameter.value());
  }
  return encoder;
}

/// One unit vector an utterance, [batch, projected]: the last frame's.
Tensor embed(nn::Sequential& encoder, Tensor const& frames) {
  auto const last = encoder->forward(frames).index({Slice(), -1});
  return nn::functional::normalize(last, nn::functional::NormalizeFuncOptions().p(2).dim(1));
}

/// The line that turns similarities into logits. Both parameters have gradients, but upstream's
/// optimizer does not update them.
struct Line {
  Tensor slope, shift;
};

/// Each speaker's first utterance should be most like the mean of that speaker's others.
Tensor angular_prototype_loss(Tensor const& embeddings, Tensor const& speakers, Line const& line) {
  auto const count = speakers.size(0);
  auto const utterance = embeddings.view({count, utterances, -1});
  auto const first = utterance.index({Slice(), 0}).unsqueeze(-1).expand({-1, -1, count});
  auto const others = utterance.index({Slice(), Slice(1)}).mean(1);
  auto const anchors = others.unsqueeze(-1).expand({-1, -1, count}).transpose(0, 2);
  auto const similarity = torch::cosine_similarity(first, anchors, 1);
  torch::clamp(line.slope, 1e-6);  // upstream forgets what that gives
  return nn::functional::cross_entropy(similarity * line.slope + line.shift, speakers);
}

/// Adam that knows its variance's variance: Liu et al., 2019 (arXiv 1908.03265). Until enough
/// gradients were seen it is gradient descent with momentum.
class RAdam final : public torch::optim::Optimizer {
 public:
  explicit RAdam(std::vector<Tensor> const& parameters)
      : Optimizer({torch::optim::OptimizerParamGroup(parameters)}, std::make_unique<Options>()),
        moments_(parameters.size()) {}

  Tensor step(LossClosure closure = nullptr) override {
    auto const loss = closure ? closure() : Tensor();
    torch::NoGradGuard const no_gradients;
    auto const stride = stride_at(++steps_);
    auto& parameters = param_groups().front().params();
    for (std::size_t i = 0; i < parameters.size(); ++i)
      if (parameters[i].grad().defined()) update(parameters[i], moments_[i], stride);
    return loss;
  }

 private:
  struct Options : torch::optim::OptimizerCloneableOptions<Options> {};

  struct Moments {
    Tensor first, second;  ///< means of gradients and of their squares
  };

  struct Stride {
    double length;
    bool adaptive;  ///< divided by the root of the squares
  };

  static Stride stride_at(double step) {
    auto const first_seen = 1 - std::pow(first_decay, step);
    auto const second_seen = 1 - std::pow(second_decay, step);
    auto const most = 2 / (1 - second_decay) - 1;
    auto const samples = most - 2 * step * (1 - second_seen) / second_seen;
    if (samples < 5) return {rate / first_seen, false};
    auto const certainty =
        second_seen * (samples - 4) / (most - 4) * (samples - 2) / samples * most / (most - 2);
    return {rate * std::sqrt(certainty) / first_seen, true};
  }

  static void update(Tensor& parameter, Moments& moments, Stride const& stride) {
    auto const slope = parameter.grad().data().to(torch::kFloat);
    auto weights = parameter.data().to(torch::kFloat);
    auto& [first, second] = moments;
    first = first.defined() ? first.type_as(weights) : torch::zeros_like(weights);
    second = second.defined() ? second.type_as(weights) : torch::zeros_like(weights);
    second.mul_(second_decay).addcmul_(slope, slope, 1 - second_decay);
    first.mul_(first_decay).add_(slope, 1 - first_decay);
    if (stride.adaptive)
      weights.addcdiv_(first, second.sqrt().add_(epsilon), -stride.length);
    else
      weights.add_(first, -stride.length);
    parameter.data().copy_(weights);
  }

  static constexpr double rate = 1e-4;
  static constexpr double first_decay = 0.9;
  static constexpr double second_decay = 0.999;
  static constexpr double epsilon = 1e-8;

  std::vector<Moments> moments_;
  double steps_ = 0;
};

}  // namespace

std::unique_ptr<Workload> make_tts_angular(Setup const& setup) {
  auto const sizes = setup.pick(Sizes{50, 768, 256}, Sizes{20, 96, 32});
  auto encoder = make_encoder(sizes);
  setup.place(*encoder);
  auto const frames = setup.place(torch::rand({setup.batch, sizes.frames, mels}));
  auto const speakers = setup.place(torch::arange(setup.batch / utterances, torch::kLong));
  Line const line{setup.place(torch::tensor(10.0F)).requires_grad_(),
                  setup.place(torch::tensor(-5.0F)).requires_grad_()};

  Supervised parts;
  parts.network = encoder.ptr();
  parts.forward = [encoder, frames]() mutable {
    return std::vector<Tensor>{embed(encoder, frames)};
  };
  parts.loss = [speakers, line](auto const& outputs) {
    return angular_prototype_loss(outputs[0], speakers, line);
  };
  parts.optimizer = std::make_unique<RAdam>(encoder->parameters());
  return make_supervised(setup.test, std::move(parts));
}

}  // namespace torchwatch::suite::tts_angular
