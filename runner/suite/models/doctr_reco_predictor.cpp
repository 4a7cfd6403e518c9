// Text recognition: Shi et al., "An End-to-End Trainable Neural Network for Image-based Sequence
// Recognition", 2015 (arXiv 1507.05717), after crnn_vgg16_bn of mindee/doctr as TorchBench runs it:
// the features of a VGG16 with batch normalisation whose last three poolings keep the width, two
// bidirectional LSTM layers, and words by greedy CTC decoding (Graves et al., 2006), which ends on
// the host as upstream's does. Eval alone, as upstream. Input: images [1, 3, 32, 128]; 123
// characters. Smoke: an eighth of the channels, an LSTM of 32.

#include <utility>

#include "runner/suite/blocks/vgg.h"
#include "runner/suite/supervised.h"

namespace torchwatch::suite::doctr_reco_predictor {
namespace {

using torch::Tensor;
namespace nn = torch::nn;

constexpr std::int64_t height = 32;
constexpr std::int64_t width = 128;
constexpr std::int64_t characters = 123;  ///< also the index of the blank

/// Images [batch, 3, 32, width] -> logits [batch, width / 4, characters + 1].
class RecognizerImpl : public nn::Module {
 public:
  RecognizerImpl(VggOptions const& options, std::int64_t hidden)
      : features_(register_module("feat_extractor", make_vgg16_features(options))),
        decoder_(register_module("decoder",
                                 nn::LSTM(nn::LSTMOptions(8 * options.width * (height / 32), hidden)
                                              .num_layers(2)
                                              .batch_first(true)
                                              .bidirectional(true)))),
        linear_(register_module("linear", nn::Linear(2 * hidden, characters + 1))) {}

  Tensor forward(Tensor const& images) {
    auto const features = features_->forward(images);
    auto const columns = torch::reshape(
        features, {features.size(0), features.size(1) * features.size(2), features.size(3)});
    return linear_(std::get<0>(decoder_(columns.transpose(1, 2))));
  }

 private:
  nn::Sequential features_;
  nn::LSTM decoder_;
  nn::Linear linear_;
};

TORCH_MODULE(Recognizer);

/// The likeliest character of each column, repetitions and blanks left out.
Tensor collapse(Tensor const& path) {
  auto const* const column = path.data_ptr<std::int64_t>();
  std::vector<std::int64_t> word;
  for (std::int64_t i = 0; i < path.numel(); ++i) {
    if (column[i] != characters && (i == 0 || column[i] != column[i - 1]))
      word.push_back(column[i]);
  }
  return torch::tensor(word, torch::kLong);
}

/// Logits, how sure each word is, and each word.
std::vector<Tensor> decode(Tensor const& logits) {
  auto const likeliest = std::get<0>(torch::softmax(logits, -1).max(-1));
  std::vector<Tensor> outputs{logits, std::get<0>(likeliest.min(1))};
  for (auto const& path : logits.argmax(-1).unbind())
    outputs.push_back(collapse(path.cpu()));
  outputs[1] = outputs[1].cpu();
  return outputs;
}

}  // namespace

std::unique_ptr<Workload> make_doctr_reco_predictor(Setup const& setup) {
  VggOptions options;
  options.width = setup.pick(64, 8);
  options.batch_norm = true;
  options.narrow_pools = 3;
  Recognizer network(options, setup.pick(128, 32));
  setup.place(*network);
  auto const images = setup.place(torch::randn({setup.batch, 3, height, width}));

  Supervised parts;
  parts.network = network.ptr();
  parts.forward = [network, images]() mutable {
    return decode(network(images));
  };
  return make_supervised(setup.test, std::move(parts));
}

}  // namespace torchwatch::suite::doctr_reco_predictor
