#include "runner/suite/layers.h"

namespace torchwatch::suite {

torch::nn::Sequential make_mlp(std::vector<std::int64_t> const& widths,
                               Activation* between,
                               Activation* after) {
  torch::nn::Sequential layers;
  for (std::size_t i = 0; i + 1 < widths.size(); ++i) {
    layers->push_back(torch::nn::Linear(widths[i], widths[i + 1]));
    Activation* const activation = i + 2 < widths.size() ? between : after;
    if (activation != nullptr) layers->push_back(torch::nn::Functional(activation));
  }
  return layers;
}

torch::nn::Linear unbiased(std::int64_t in, std::int64_t out) {
  return torch::nn::Linear(torch::nn::LinearOptions(in, out).bias(false));
}

void follow(std::vector<torch::Tensor> const& targets,
            std::vector<torch::Tensor> const& sources,
            double rate) {
  torch::NoGradGuard const no_gradients;
  for (std::size_t i = 0; i < targets.size(); ++i)
    targets[i].mul_(1 - rate).add_(sources[i], rate);
}

torch::Tensor draw_pictures(std::int64_t batch,
                            std::int64_t channels,
                            std::int64_t height,
                            std::int64_t width) {
  constexpr std::int64_t grain = 8;
  namespace F = torch::nn::functional;
  auto const coarse = torch::rand({batch, channels, height / grain + 1, width / grain + 1});
  auto const options = F::InterpolateFuncOptions()
                           .size(std::vector<std::int64_t>{height, width})
                           .mode(torch::kBilinear)
                           .align_corners(false);
  return F::interpolate(coarse, options);
}

std::shared_ptr<torch::nn::Module> join(
    std::vector<std::pair<std::string, std::shared_ptr<torch::nn::Module>>> const& networks) {
  auto all = std::make_shared<torch::nn::Module>();
  for (auto const& [name, network] : networks)
    all->register_module(name, network);
  return all;
}

}  // namespace torchwatch::suite
