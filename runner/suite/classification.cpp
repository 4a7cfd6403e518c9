#include "runner/suite/classification.h"

#include <utility>
#include <vector>

namespace torchwatch::suite {
namespace {

using torch::Tensor;
namespace F = torch::nn::functional;

using Loss = std::function<Tensor(std::vector<Tensor> const& outputs)>;

Loss compare_with(Tensor const& targets) {
  return [targets](auto const& outputs) {
    return F::cross_entropy(outputs[0], targets);
  };
}

Loss draw_anew(torch::Device device, std::int64_t classes) {
  auto const start = at::globalContext().defaultGenerator(device).clone();
  return [start, classes](auto const& outputs) {
    auto const options = outputs[0].options().dtype(torch::kLong).requires_grad(false);
    auto const labels = torch::empty({outputs[0].size(0)}, options);
    return F::cross_entropy(outputs[0], labels.random_(classes, start.clone()));
  };
}

Loss make_loss(Setup const& setup, Classification const& options) {
  if (options.targets == Targets::drawn) return draw_anew(setup.device, options.classes);
  // Shares stay in single precision: a half would be infinite once all are summed.
  if (options.targets == Targets::soft)
    return compare_with(torch::rand({setup.batch, options.classes}).to(setup.device));
  return compare_with(setup.place(torch::randint(options.classes, {setup.batch}, torch::kLong)));
}

}  // namespace

std::unique_ptr<Workload> make_classifier(Setup const& setup,
                                          Classification const& options,
                                          std::shared_ptr<torch::nn::Module> network,
                                          std::function<Tensor(Tensor const& images)> forward) {
  setup.place(*network);
  auto const images = setup.place(torch::randn({setup.batch, 3, options.side, options.side}));

  Supervised parts;
  parts.inputs = {images};
  parts.forward = [forward = std::move(forward), images] {
    return std::vector<Tensor>{forward(images)};
  };
  parts.loss = make_loss(setup, options);
  parts.optimizer =
      options.optimizer ? options.optimizer(*network) : make_adam(*network, options.rate);
  parts.network = std::move(network);
  return make_supervised(setup.test, std::move(parts));
}

}  // namespace torchwatch::suite
