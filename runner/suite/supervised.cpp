#include "runner/suite/supervised.h"

#include <utility>

#include "runner/suite/apply_gradients.h"

namespace torchwatch::suite {
namespace {

/// Scales the gradients so that their norm is at most `limit`, without waiting for the device.
void clip_gradients(std::vector<torch::Tensor> const& parameters, double limit) {
  std::vector<torch::Tensor> norms;
  for (auto const& parameter : parameters)
    if (parameter.grad().defined()) norms.push_back(parameter.grad().norm());
  auto const scale = (torch::stack(norms).norm() + 1e-6).reciprocal() * limit;
  auto const at_most_one = scale.clamp({}, 1);
  for (auto const& parameter : parameters)
    if (parameter.grad().defined()) parameter.grad().detach().mul_(at_most_one);
}

class Training final : public Workload {
 public:
  explicit Training(Supervised parts) : parts_(std::move(parts)) { parts_.network->train(); }

  void step() override {
    parts_.optimizer->zero_grad();
    auto const loss = parts_.loss(parts_.forward());
    loss.backward();
    if (parts_.gradient_norm > 0)
      clip_gradients(parts_.network->parameters(), parts_.gradient_norm);
    apply_gradients(*parts_.optimizer);
    loss_ = loss.detach();
  }

  std::vector<torch::Tensor> results() const override { return {loss_}; }

  std::shared_ptr<torch::nn::Module> network() const override { return parts_.network; }

  std::vector<torch::Tensor> inputs() const override { return parts_.inputs; }

 private:
  Supervised parts_;
  torch::Tensor loss_;
};

class Inference final : public Workload {
 public:
  explicit Inference(Supervised parts) : parts_(std::move(parts)) { parts_.network->eval(); }

  void step() override {
    torch::NoGradGuard const no_gradients;
    outputs_ = parts_.forward();
  }

  std::vector<torch::Tensor> results() const override { return outputs_; }

  std::shared_ptr<torch::nn::Module> network() const override { return parts_.network; }

  std::vector<torch::Tensor> inputs() const override { return parts_.inputs; }

 private:
  Supervised parts_;
  std::vector<torch::Tensor> outputs_;
};

}  // namespace

std::unique_ptr<Workload> make_supervised(Test test, Supervised parts) {
  if (test == Test::train) return std::make_unique<Training>(std::move(parts));
  return std::make_unique<Inference>(std::move(parts));
}

std::unique_ptr<torch::optim::Optimizer> make_adam(torch::nn::Module const& network, double rate) {
  return std::make_unique<torch::optim::Adam>(network.parameters(),
                                              torch::optim::AdamOptions(rate));
}

std::unique_ptr<torch::optim::Optimizer> make_sgd(torch::nn::Module const& network,
                                                  double rate,
                                                  double momentum,
                                                  double weight_decay) {
  auto const options = torch::optim::SGDOptions(rate).momentum(momentum).weight_decay(weight_decay);
  return std::make_unique<torch::optim::SGD>(network.parameters(), options);
}

}  // namespace torchwatch::suite
