// A network that learns the Lennard-Jones potential, after TorchBench's lennard_jones (from
// muhrin/milad): energies of pairs by their distance, forces as the energies' derivative, so that
// training differentiates twice. Upstream asks jacrev under vmap for that; LibTorch has neither, so
// it is written for the batch as they would rewrite it. Input: displacements [batch, 3], energies
// [batch, 1], forces [batch, 3]. It is small enough to be its own smoke.

#include <utility>

#include "runner/suite/layers.h"
#include "runner/suite/supervised.h"

namespace torchwatch::suite::lennard_jones {
namespace {

using torch::Tensor;
namespace nn = torch::nn;

constexpr double sigma = 0.5;
constexpr double epsilon = 4.0;

/// [batch, 3] -> [batch, 1]
Tensor distances_of(Tensor const& displacements) {
  return torch::linalg_norm(displacements, c10::nullopt, {1}).reshape({-1, 1});
}

Tensor potential(Tensor const& r) {
  return epsilon * ((sigma / r).pow(12) - (sigma / r).pow(6));
}

/// Minus the potential's slope.
Tensor force(Tensor const& r) {
  return epsilon * (12 * (sigma / r).pow(12) - 6 * (sigma / r).pow(6)) / r;
}

/// The derivative of each energy with respect to its distance: Jacobians [batch, 1, 1].
Tensor differentiate(nn::Sequential& network, Tensor const& r, bool training) {
  torch::AutoGradMode const with_gradients(true);
  auto const distances = r.detach().requires_grad_();
  auto const energies = network->forward(distances);
  auto basis = energies.new_zeros({r.size(0), 1, 1});
  basis.diagonal(0, 1, 2).fill_(1);
  auto const slopes =
      torch::autograd::grad({energies}, {distances}, {basis.view({-1, 1})}, training, training);
  return slopes[0].view({-1, 1, 1});
}

/// Energies and forces.
std::vector<Tensor> predict(nn::Sequential& network, Tensor const& displacements, bool training) {
  auto const r = distances_of(displacements);
  auto const energies = network->forward(r);
  auto const slopes = differentiate(network, r, training).squeeze(-1);
  return {energies, -slopes * displacements / r};
}

}  // namespace

std::unique_ptr<Workload> make_lennard_jones(Setup const& setup) {
  auto network = make_mlp({1, 16, 16, 16, 16, 1}, &torch::tanh);
  setup.place(*network);
  auto const direction = torch::tensor({1.0F, 0.0F, 0.0F});
  auto const displacements =
      setup.place(torch::outer(torch::linspace(sigma, 2 * sigma, setup.batch), direction));
  auto const r = distances_of(displacements);
  auto const energies = potential(r);
  auto const forces = force(r) * displacements / r;

  Supervised parts;
  parts.network = network.ptr();
  parts.forward = [network, displacements, training = setup.test == Test::train]() mutable {
    return predict(network, displacements, training);
  };
  parts.loss = [energies, forces](auto const& outputs) {
    return torch::mse_loss(energies, outputs[0]) + 0.01 * torch::mse_loss(forces, outputs[1]) / 3;
  };
  parts.optimizer =
      std::make_unique<torch::optim::Adam>(network->parameters(), torch::optim::AdamOptions(1e-3));
  return make_supervised(setup.test, std::move(parts));
}

}  // namespace torchwatch::suite::lennard_jones
