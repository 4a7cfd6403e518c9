#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "runner/catalogue/catalogue.h"
#include "runner/suite/workload.h"

namespace torchwatch::suite {

/// Builds a model's workload. Throws c10::Error when the device has too little memory.
using Factory = std::unique_ptr<Workload>(Setup const& setup);

/// A model of the catalogue, and the function that builds it.
struct Model : Entry {
  Factory* make = nullptr;
};

/// Returns the models of this worker, sorted by name: all of the catalogue, or those that
/// TORCHWATCH_MODELS names.
std::vector<Model> const& models();

/// Returns a model of this worker; null when it does not exist.
Model const* find_model(std::string_view name);

/// Returns the reason why `find_model` does not find a model.
std::string why_missing(std::string_view name);

/// Returns the samples per iteration of a test; 0 when the model does not have that test.
std::int64_t batch_of(Model const& model, Test test, Scale scale);

/// Seeds LibTorch's generators and builds a workload, with automatic mixed precision for
/// Precision::amp. Equal arguments give equal losses, bit for bit, on one CPU thread.
std::unique_ptr<Workload> make_workload(std::function<Factory> const& make,
                                        Setup const& setup,
                                        std::int64_t seed);

}  // namespace torchwatch::suite
