#include <torch/script.h>

#include "runner/suite/described.h"
#include "runner/suite/supervised.h"

namespace torchwatch::suite {
namespace {

using torch::Tensor;
namespace nn = torch::nn;

/// A module of the C++ front end with the parameters and buffers of a script.
std::shared_ptr<nn::Module> mirror(torch::jit::Module const& script) {
  auto module = std::make_shared<nn::Module>();
  for (auto const& parameter : script.named_parameters(false))
    module->register_parameter(parameter.name, parameter.value, parameter.value.requires_grad());
  for (auto const& buffer : script.named_buffers(false))
    module->register_buffer(buffer.name, buffer.value);
  for (auto const& child : script.named_children())
    module->register_module(child.name, mirror(child.value));
  return module;
}

void add_tensors(c10::IValue const& value, std::vector<Tensor>& tensors) {
  if (value.isTensor()) {
    tensors.push_back(value.toTensor());
  } else if (value.isTuple()) {
    for (auto const& element : value.toTupleRef().elements())
      add_tensors(element, tensors);
  } else if (value.isList()) {
    for (auto const& element : value.toListRef())
      add_tensors(element, tensors);
  } else if (value.isGenericDict()) {
    for (auto const& entry : value.toGenericDict())
      add_tensors(entry.value(), tensors);
  }
}

std::vector<Tensor> tensors_in(c10::IValue const& value) {
  std::vector<Tensor> tensors;
  add_tensors(value, tensors);
  TORCH_CHECK(!tensors.empty(), "the model returns no tensor");
  return tensors;
}

Tensor loss_of(Loss loss, std::vector<Tensor> const& outputs, std::vector<Tensor> const& labels) {
  switch (loss) {
    case Loss::cross_entropy:
      return nn::functional::cross_entropy(outputs[0], labels[0]);
    case Loss::mse:
      return torch::mse_loss(outputs[0], labels[0]);
    case Loss::output:
      break;
  }
  return outputs[0];
}

}  // namespace

std::unique_ptr<Workload> make_script(std::string const& file,
                                      ModelDescription const& description,
                                      Setup const& setup) {
  auto script = torch::jit::load(file);
  script.train(setup.test == Test::train);
  auto network = mirror(script);
  setup.place(*network);
  auto const inputs = draw(description.inputs, setup);
  auto const labels = draw(description.labels, setup);

  Supervised parts;
  parts.inputs = inputs;
  parts.forward = [script,
                   arguments = std::vector<c10::IValue>(inputs.begin(), inputs.end())]() mutable {
    return tensors_in(script.forward(arguments));
  };
  parts.loss = [labels, loss = description.loss](auto const& outputs) {
    return loss_of(loss, outputs, labels);
  };
  parts.optimizer = make_adam(*network, description.rate);
  parts.network = std::move(network);
  return make_supervised(setup.test, std::move(parts));
}

}  // namespace torchwatch::suite
