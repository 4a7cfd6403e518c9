#include "runner/suite/described.h"

#include <algorithm>
#include <cstdint>

namespace torchwatch::suite {
namespace {

torch::Dtype dtype_of(Element type) {
  switch (type) {
    case Element::int64:
      return torch::kLong;
    case Element::boolean:
      return torch::kBool;
    case Element::float32:
      break;
  }
  return torch::kFloat;
}

}  // namespace

std::vector<torch::Tensor> draw(std::vector<TensorDescription> const& tensors, Setup const& setup) {
  std::vector<torch::Tensor> drawn;
  for (auto const& [shape_of_one, type, low, high] : tensors) {
    auto shape = shape_of_one;
    std::ranges::replace(shape, TensorDescription::batch_size, setup.batch);
    if (type != Element::float32) {
      auto const first = static_cast<std::int64_t>(low);
      auto const end = static_cast<std::int64_t>(high);
      auto const whole = torch::randint(first, end, shape, torch::kLong);
      drawn.push_back(setup.place(whole.to(dtype_of(type))));
    } else if (low == 0 && high == 0) {
      drawn.push_back(setup.place(torch::randn(shape)));
    } else {
      drawn.push_back(setup.place(torch::rand(shape) * (high - low) + low));
    }
  }
  return drawn;
}

}  // namespace torchwatch::suite
