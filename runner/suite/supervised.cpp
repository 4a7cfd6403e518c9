#include "runner/suite/supervised.h"

#include <utility>

namespace torchwatch::suite {
namespace {

/// Scales the gradients so that their norm is at most `limit`, without waiting for the device.
void clip_gradients(std::vector<torch::Tensor> const& parameters, double limit) {
  std::vector<torch::Tensor> norms;
  for (auto const& parameter : parameters)
    if (parameter.grad().defined()) norms.push_back(parameter.grad().norm());
  auto const scale = (limit / (torch::stack(norms).norm() + 1e-6)).clamp_max(1);
  for (auto const& parameter : parameters)
    if (parameter.grad().defined()) parameter.grad().mul_(scale);
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
    parts_.optimizer->step();
    loss_ = loss.detach();
  }

  torch::Tensor result() const override { return loss_; }

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
    output_ = parts_.forward().front().detach();
  }

  torch::Tensor result() const override { return output_; }

  std::shared_ptr<torch::nn::Module> network() const override { return parts_.network; }

  std::vector<torch::Tensor> inputs() const override { return parts_.inputs; }

 private:
  Supervised parts_;
  torch::Tensor output_;
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

std::unique_ptr<Workload> make_classifier(
    Setup const& setup,
    Classification const& options,
    std::shared_ptr<torch::nn::Module> network,
    std::function<torch::Tensor(torch::Tensor const& images)> forward) {
  setup.place(*network);
  auto const images = setup.place(torch::randn({setup.batch, 3, options.side, options.side}));
  auto const labels = setup.place(torch::randint(options.classes, {setup.batch}, torch::kLong));

  Supervised parts;
  parts.inputs = {images};
  parts.forward = [forward = std::move(forward), images] {
    return std::vector<torch::Tensor>{forward(images)};
  };
  parts.loss = [labels](auto const& outputs) {
    return torch::nn::functional::cross_entropy(outputs[0], labels);
  };
  parts.optimizer =
      options.optimizer ? options.optimizer(*network) : make_adam(*network, options.rate);
  parts.network = std::move(network);
  return make_supervised(setup.test, std::move(parts));
}

}  // namespace torchwatch::suite
