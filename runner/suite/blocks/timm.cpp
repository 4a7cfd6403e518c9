#include "runner/suite/blocks/timm.h"

#include <utility>
#include <vector>

namespace torchwatch::suite {

std::unique_ptr<torch::optim::Optimizer> make_timm_optimizer(torch::nn::Module const& network,
                                                             TimmOptimizer const& settings) {
  std::vector<torch::Tensor> decaying, others;
  for (auto const& parameter : network.parameters())
    (parameter.dim() > 1 ? decaying : others).push_back(parameter);

  auto const options =
      torch::optim::SGDOptions(settings.rate).momentum(0.9).nesterov(settings.nesterov);
  auto const group = [&](std::vector<torch::Tensor> parameters, double weight_decay) {
    auto own = std::make_unique<torch::optim::SGDOptions>(options);
    own->weight_decay(weight_decay);
    return torch::optim::OptimizerParamGroup(std::move(parameters), std::move(own));
  };
  std::vector<torch::optim::OptimizerParamGroup> groups;
  groups.push_back(group(std::move(decaying), settings.decay));
  groups.push_back(group(std::move(others), 0));
  return std::make_unique<torch::optim::SGD>(std::move(groups), options);
}

Classification timm_classification(std::int64_t side) {
  Classification options;
  options.side = side;
  options.targets = Targets::drawn;
  options.optimizer = [](auto const& network) {
    return make_timm_optimizer(network);
  };
  return options;
}

}  // namespace torchwatch::suite
