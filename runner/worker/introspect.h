#pragma once

#include <functional>
#include <string>

#include <nlohmann/json.hpp>

#include "runner/suite/registry.h"

/// What the suite is made of, as JSON.
namespace torchwatch::worker {

/// Hears which model is being looked at, and how many were before it, of how many.
using ModelListener = std::function<void(std::string const& model, int done, int total)>;

/// {"model", "parameters": [{"name", "shape", "type"}], "buffers": [...]} at full scale, in the
/// order of the model.
nlohmann::json describe_parameters(suite::Model const& model);

/// {"pytorch_version", "models": {"MODEL": {"called": ["aten::add.Tensor", "AddBackward0", ...],
/// "called_in_turn": [...], "waits": {"train": 2, "eval": 0}}}}: what one iteration of each test
/// dispatches at smoke scale on the CPU, as Dispatched tells it.
nlohmann::json cover(ModelListener const& listener);

}  // namespace torchwatch::worker
