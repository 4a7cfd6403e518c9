#include "runner/suite/workload.h"

namespace torchwatch::suite {
namespace {

torch::Dtype dtype_of(Precision precision) {
  switch (precision) {
    case Precision::fp16:
      return torch::kHalf;
    case Precision::bf16:
      return torch::kBFloat16;
    case Precision::fp32:
    case Precision::amp:
      break;
  }
  return torch::kFloat;
}

/// cuDNN wants the weights of a recurrent layer in one piece, which Module::to sees to.
void flatten(torch::nn::Module& module) {
  if (auto* const lstm = module.as<torch::nn::LSTM>()) lstm->flatten_parameters();
  if (auto* const gru = module.as<torch::nn::GRU>()) gru->flatten_parameters();
  if (auto* const rnn = module.as<torch::nn::RNN>()) rnn->flatten_parameters();
}

}  // namespace

torch::Tensor Setup::place(torch::Tensor const& tensor) const {
  if (!tensor.is_floating_point()) return tensor.to(device);
  return tensor.to(device, dtype_of(precision));
}

void Setup::place(torch::nn::Module& network) const {
  // Module::to would convert counts and indices to floating point numbers, too
  for (auto& parameter : network.parameters())
    parameter.set_data(place(parameter.data()));
  for (auto& buffer : network.buffers())
    buffer.set_data(place(buffer.data()));
  for (auto const& module : network.modules(false))
    flatten(*module);
}

}  // namespace torchwatch::suite
