#include "runner/suite/layers.h"

namespace torchwatch::suite {

torch::nn::Sequential make_mlp(std::vector<std::int64_t> const& widths,
                               Activation* between,
                               Activation* after) {
  torch::nn::Sequential layers;
  for (std::size_t i = 0; i + 1 < widths.size(); ++i) {
    layers->push_back(torch::nn::Linear(widths[i], widths[i + 1]));
    Activation* const activation = i + 2 < widths.size() ? between : after;
    if (activation != nullptr) layers->push_back(torch::nn::Functional(activation));
  }
  return layers;
}

}  // namespace torchwatch::suite
