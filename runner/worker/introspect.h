#pragma once

#include <functional>
#include <string>

#include <nlohmann/json.hpp>

#include "runner/suite/registry.h"

/// Parameters and operators of the suite, as JSON.
namespace torchwatch::worker {

/// Called before each model, with the numbers of finished models and of all models.
using ModelListener = std::function<void(std::string const& model, int done, int total)>;

/// Returns {"model", "parameters": [{"name", "shape", "type"}], "buffers": [...]} at full scale, in
/// the order of the model.
nlohmann::json describe_parameters(suite::Model const& model);

/// Returns the operators that one iteration of each test dispatches, at smoke scale on the CPU, as
/// in Dispatched: {"pytorch_version", "models": {"MODEL": {"called": ["aten::add.Tensor",
/// "AddBackward0", ...], "called_in_turn": [...], "waits": {"train": 2, "eval": 0}}}}.
nlohmann::json cover(ModelListener const& listener);

}  // namespace torchwatch::worker
