#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "runner/suite/models.h"
#include "runner/suite/workload.h"

namespace torchwatch::suite {

/// Samples in one iteration; 0 when there is no such test.
struct Batch {
  std::int64_t train = 0;
  std::int64_t eval = 0;
};

/// What is known of a model without building it. Names are TorchBench's.
struct Model {
  std::string_view name;
  std::string_view domain;
  std::string_view task;
  Batch full;
  Batch smoke;
  Factory* make = nullptr;
};

/// All models, by name.
std::vector<Model> const& models();

/// Null when there is no such model.
Model const* find_model(std::string_view name);

/// Samples in one iteration of that test; 0 when the model has no such test.
std::int64_t batch_of(Model const& model, Test test, Scale scale);

/// Seeds LibTorch's generators and builds; for Precision::amp around what `make` makes. The same
/// arguments give the same losses, bit for bit, on one CPU thread.
std::unique_ptr<Workload> make_workload(std::function<Factory> const& make,
                                        Setup const& setup,
                                        std::int64_t seed);

}  // namespace torchwatch::suite
