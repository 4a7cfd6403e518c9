#include "runner/suite/supervised.h"

#include <utility>

namespace torchwatch::suite {
namespace {

class Training final : public Workload {
 public:
  explicit Training(Supervised parts) : parts_(std::move(parts)) { parts_.network->train(); }

  void step() override {
    parts_.optimizer->zero_grad();
    auto const loss = parts_.loss(parts_.forward());
    loss.backward();
    parts_.optimizer->step();
    loss_ = loss.detach();
  }

  torch::Tensor result() const override { return loss_; }

  std::vector<torch::Tensor> parameters() const override { return parts_.network->parameters(); }

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

  std::vector<torch::Tensor> parameters() const override { return parts_.network->parameters(); }

 private:
  Supervised parts_;
  torch::Tensor output_;
};

}  // namespace

std::unique_ptr<Workload> make_supervised(Test test, Supervised parts) {
  if (test == Test::train) return std::make_unique<Training>(std::move(parts));
  return std::make_unique<Inference>(std::move(parts));
}

}  // namespace torchwatch::suite
