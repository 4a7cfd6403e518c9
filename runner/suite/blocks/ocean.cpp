#include "runner/suite/blocks/ocean.h"

#include <cmath>
#include <utility>

#include "runner/suite/supervised.h"

namespace torchwatch::suite {

using torch::Tensor;

namespace {

Ocean::Grid grid_of(std::int64_t cells) {
  double const side = std::cbrt(static_cast<double>(cells));
  auto const rounded = [](double length) {
    return static_cast<std::int64_t>(std::ceil(length));
  };
  return {rounded(2 * side), rounded(2 * side), rounded(0.25 * side)};
}

}  // namespace

Ocean::Ocean(Setup const& setup) : grid_(grid_of(setup.batch)), device_(setup.device) {}

Tensor Ocean::normal(std::vector<std::int64_t> const& shape) const {
  return torch::randn(shape, torch::kDouble).to(device_);
}

Tensor Ocean::field(std::vector<std::int64_t> const& more) const {
  auto shape = grid_.shape();
  shape.insert(shape.end(), more.begin(), more.end());
  return normal(shape);
}

Tensor Ocean::mask() const {
  return (torch::rand(grid_.shape()) < 0.8).to(torch::kDouble).to(device_);
}

Tensor Ocean::eastward() const {
  return normal({grid_.east, 1, 1});
}

Tensor Ocean::northward() const {
  return normal({1, grid_.north, 1});
}

Tensor Ocean::upward() const {
  return normal({1, 1, grid_.up});
}

Tensor Ocean::between(double low, double high, std::vector<std::int64_t> const& shape) const {
  return (low + (high - low) * torch::rand(shape, torch::kDouble)).to(device_);
}

Tensor ocean::cut(Tensor const& x, std::int64_t axis, std::int64_t first, std::int64_t last) {
  auto const size = x.size(axis);
  if (size == 1) return x;
  return x.slice(axis, first, last > 0 ? last : size + last);
}

Tensor ocean::inner(Tensor const& x) {
  return cut(cut(x, 0, 2, -2), 1, 2, -2);
}

std::unique_ptr<Workload> make_kernel(Setup const& setup,
                                      std::function<std::vector<Tensor>()> kernel) {
  Supervised parts;
  parts.network = std::make_shared<torch::nn::Module>();
  parts.forward = std::move(kernel);
  return make_supervised(setup.test, std::move(parts));
}

}  // namespace torchwatch::suite
