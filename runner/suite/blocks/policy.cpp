#include "runner/suite/blocks/policy.h"

#include <cmath>
#include <numbers>

namespace torchwatch::suite {

using torch::Tensor;
namespace nn = torch::nn;

namespace {

struct Normal {
  Tensor mean, deviation;
};

/// torch.distributions looks at all numbers before it uses them, which waits for the device.
void require(Tensor const& valid) {
  TORCH_CHECK(valid.all().is_nonzero(), "a policy is no distribution");
}

Normal normal_of(Tensor const& output) {
  constexpr double low = -10, high = 2;  // of the deviation's logarithm
  auto const parts = output.chunk(2, 1);
  auto const log_deviation = low + 0.5 * (high - low) * (torch::tanh(parts[1]) + 1);
  auto const both = torch::broadcast_tensors({parts[0], log_deviation.exp()});
  require(torch::eq(both[0], both[0]));  // not where one is not a number
  require(both[1] > 0);
  return {both[0], both[1]};
}

Tensor log_density(Normal const& normal, Tensor const& x) {
  require(torch::eq(x, x));
  auto const variance = normal.deviation.pow(2);
  return -(x - normal.mean).pow(2) / (2 * variance) - normal.deviation.log() -
         std::log(std::sqrt(2 * M_PI));
}

}  // namespace

Policy draw(Tensor const& output) {
  auto const normal = normal_of(output);
  auto const noise = torch::empty(normal.mean.sizes(), normal.mean.options()).normal_();
  auto const raw = normal.mean + noise * normal.deviation;
  auto const actions = torch::tanh(raw);
  require((actions >= -1).__and__(actions <= 1));
  auto const log_slope = 2 * (torch::rsub(raw, std::numbers::ln2) - torch::softplus(-2 * raw));
  auto const log_probability = torch::rsub(log_slope, 0) + log_density(normal, raw);
  return {actions, log_probability.sum(-1, true)};
}

Tensor sample(Tensor const& output) {
  torch::NoGradGuard const no_gradients;
  auto const normal = normal_of(output);
  return torch::tanh(at::normal(normal.mean, normal.deviation));
}

Tensor mean_action(Tensor const& output) {
  return torch::tanh(normal_of(output).mean);
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
