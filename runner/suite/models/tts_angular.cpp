// Speaker encoder of mozilla/TTS as TorchBench's tts_angular runs it: three LSTM layers, each with
// a projection, and the angular prototypical loss (Chung et al., "In defence of metric learning for
// speaker recognition", 2020, arXiv 2003.11982). LibTorch has no RAdam, so Adam trains it: the same
// state, read and written alike. Input: mel frames [batch, 50, 40]; in training the batch holds two
// utterances of each speaker, because one leaves upstream's anchor the mean of nothing. Smoke: 20
// frames, layers of 96 projected to 32.

#include <utility>

#include "runner/suite/supervised.h"

namespace torchwatch::suite {
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

  Tensor forward(Tensor const& frames) { return projection_(std::get<0>(lstm_(frames))); }

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

/// Each speaker's first utterance should be most like the mean of that speaker's others. Scale and
/// shift of the similarity stay at their first values, as upstream's optimizer never sees them.
Tensor angular_prototype_loss(Tensor const& embeddings, Tensor const& speakers) {
  auto const count = speakers.size(0);
  auto const utterance = embeddings.view({count, utterances, -1});
  auto const first = utterance.index({Slice(), 0}).unsqueeze(-1).expand({-1, -1, count});
  auto const others = utterance.index({Slice(), Slice(1)}).mean(1);
  auto const anchors = others.unsqueeze(-1).expand({-1, -1, count}).transpose(0, 2);
  auto const similarity = torch::cosine_similarity(first, anchors, 1);
  return nn::functional::cross_entropy(similarity * 10.0 - 5.0, speakers);
}

}  // namespace

std::unique_ptr<Workload> make_tts_angular(Setup const& setup) {
  auto const sizes = setup.pick(Sizes{50, 768, 256}, Sizes{20, 96, 32});
  auto encoder = make_encoder(sizes);
  setup.place(*encoder);
  auto const frames = setup.place(torch::rand({setup.batch, sizes.frames, mels}));
  auto const speakers = setup.place(torch::arange(setup.batch / utterances, torch::kLong));

  Supervised parts;
  parts.network = encoder.ptr();
  parts.forward = [encoder, frames]() mutable {
    return std::vector<Tensor>{embed(encoder, frames)};
  };
  parts.loss = [speakers](auto const& outputs) {
    return angular_prototype_loss(outputs[0], speakers);
  };
  parts.optimizer =
      std::make_unique<torch::optim::Adam>(encoder->parameters(), torch::optim::AdamOptions(1e-4));
  return make_supervised(setup.test, std::move(parts));
}

}  // namespace torchwatch::suite
