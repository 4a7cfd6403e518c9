#pragma once

/// Models that come as files instead of C++, each with its description beside it.

#include <memory>
#include <string>
#include <vector>

#include "runner/suite/description/description.h"
#include "runner/suite/workload.h"

namespace torchwatch::suite {

/// A batch of `tensors`, drawn from LibTorch's default generator and placed.
std::vector<torch::Tensor> draw(std::vector<TensorDescription> const& tensors, Setup const& setup);

/// A TorchScript file. Throws c10::Error when it cannot be read or does not take the inputs.
std::unique_ptr<Workload> make_script(std::string const& file,
                                      ModelDescription const& description,
                                      Setup const& setup);

/// Whether this LibTorch runs AOTInductor packages.
bool has_aoti();

/// An AOTInductor package, compiled for the batch and device it is run with. Evaluation only.
/// Throws c10::Error when it cannot be read.
std::unique_ptr<Workload> make_aoti(std::string const& file,
                                    ModelDescription const& description,
                                    Setup const& setup);

}  // namespace torchwatch::suite
