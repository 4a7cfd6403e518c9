#pragma once

#include <functional>
#include <string>

#include <nlohmann/json.hpp>

#include "runner/suite/registry.h"

/// What the suite is made of, as JSON.
namespace torchwatch::worker {

/// Hears which model is being looked at, and how many were before it, of how many.
using ModelListener = std::function<void(std::string const& model, int done, int total)>;

/// [{"name", "domain", "task", "batch": {"full": {"train", "eval"}, "smoke": {...}}}], by name; a
/// batch is 0 where there is no such test.
nlohmann::json list_models();

/// The same with "parameters", how many numbers are trained at full scale. Builds every model,
/// which takes a minute and the memory of the largest one.
nlohmann::json size_models(ModelListener const& listener);

/// {"model", "parameters": [{"name", "shape", "type"}], "buffers": [...]} at full scale, in the
/// order of the model.
nlohmann::json describe_parameters(suite::Model const& model);

/// {"pytorch_version", "models": {"MODEL": ["aten::add.Tensor", ..., "AddBackward0", ...]}}: the
/// operators and nodes of autograd that one iteration of each test dispatches, at smoke scale on
/// the CPU.
nlohmann::json cover(ModelListener const& listener);

}  // namespace torchwatch::worker
