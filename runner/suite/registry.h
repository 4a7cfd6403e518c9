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

/// Builds a model's workload. Throws c10::Error when the device has no room for it.
using Factory = std::unique_ptr<Workload>(Setup const& setup);

/// A model of the catalogue, and what makes it.
struct Model : Entry {
  Factory* make = nullptr;
};

/// All models that were built, by name: the catalogue's, or those of them that TORCHWATCH_MODELS
/// names.
std::vector<Model> const& models();

/// Null when there is no such model among them.
Model const* find_model(std::string_view name);

/// Why `find_model` does not find it.
std::string why_missing(std::string_view name);

/// Samples in one iteration of that test; 0 when the model has no such test.
std::int64_t batch_of(Model const& model, Test test, Scale scale);

/// Seeds LibTorch's generators and builds; for Precision::amp around what `make` makes. The same
/// arguments give the same losses, bit for bit, on one CPU thread.
std::unique_ptr<Workload> make_workload(std::function<Factory> const& make,
                                        Setup const& setup,
                                        std::int64_t seed);

}  // namespace torchwatch::suite
