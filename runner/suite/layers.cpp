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

void follow(std::vector<torch::Tensor> const& targets,
            std::vector<torch::Tensor> const& sources,
            double rate) {
  torch::NoGradGuard const no_gradients;
  for (std::size_t i = 0; i < targets.size(); ++i)
    targets[i].mul_(1 - rate).add_(sources[i], rate);
}

std::shared_ptr<torch::nn::Module> join(
    std::vector<std::pair<std::string, std::shared_ptr<torch::nn::Module>>> const& networks) {
  auto all = std::make_shared<torch::nn::Module>();
  for (auto const& [name, network] : networks)
    all->register_module(name, network);
  return all;
}

}  // namespace torchwatch::suite
