#pragma once

/// Models in files instead of C++. Each has a description next to it.

#include <memory>
#include <string>
#include <vector>

#include "runner/suite/description/description.h"
#include "runner/suite/workload.h"

namespace torchwatch::suite {

/// Draws a batch of `tensors` from LibTorch's default generator and places it.
std::vector<torch::Tensor> draw(std::vector<TensorDescription> const& tensors, Setup const& setup);

/// Makes a workload from a TorchScript file. Throws c10::Error when the file cannot be read or does
/// not accept the inputs.
std::unique_ptr<Workload> make_script(std::string const& file,
                                      ModelDescription const& description,
                                      Setup const& setup);

/// True when this LibTorch can run AOTInductor packages.
bool has_aoti();

/// Makes a workload, for evaluation only, from an AOTInductor package. It must be compiled for this
/// batch and device. Throws c10::Error when it cannot be read or is for another device.
std::unique_ptr<Workload> make_aoti(std::string const& file,
                                    ModelDescription const& description,
                                    Setup const& setup);

}  // namespace torchwatch::suite
