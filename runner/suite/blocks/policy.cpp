#include "runner/suite/blocks/policy.h"

#include <cmath>

namespace torchwatch::suite {

using torch::Tensor;
namespace nn = torch::nn;

Policy draw(Tensor const& output) {
  constexpr double low = -10, high = 2;  // of the deviation's logarithm
  auto const parts = output.chunk(2, 1);
  auto const log_deviation = low + 0.5 * (high - low) * (torch::tanh(parts[1]) + 1);
  auto const noise = torch::randn_like(parts[0]);
  auto const raw = parts[0] + log_deviation.exp() * noise;
  auto const log_normal = -0.5 * noise * noise - log_deviation - 0.5 * std::log(2 * M_PI);
  auto const log_slope = 2 * (std::log(2.0) - raw - torch::softplus(-2 * raw));
  return {torch::tanh(raw), (log_normal - log_slope).sum(-1, true)};
}

Tensor mean_action(Tensor const& output) {
  return torch::tanh(output.chunk(2, 1)[0]);
}

void initialise_orthogonal(nn::Module& network) {
  for (auto const& module : network.modules(false)) {
    if (auto const* linear = module->as<nn::Linear>()) {
      nn::init::orthogonal_(linear->weight);
      nn::init::zeros_(linear->bias);
    }
    if (auto const* conv = module->as<nn::Conv2d>()) {
      nn::init::orthogonal_(conv->weight, nn::init::calculate_gain(torch::kReLU));
      nn::init::zeros_(conv->bias);
    }
  }
}

}  // namespace torchwatch::suite
