#pragma once

#include <memory>

#include "runner/catalogue/catalogue.h"
#include "runner/suite/workload.h"

namespace torchwatch::suite {

/// Builds a model's workload. Throws c10::Error when the device has no room for it.
using Factory = std::unique_ptr<Workload>(Setup const& setup);

#define TORCHWATCH_DECLARE(name, ...) Factory make_##name;
TORCHWATCH_MODELS(TORCHWATCH_DECLARE)
#undef TORCHWATCH_DECLARE

}  // namespace torchwatch::suite
