#pragma once

#include <functional>
#include <memory>
#include <stdexcept>

#include <torch/torch.h>

#include "runner/protocol.h"
#include "runner/suite/registry.h"

namespace torchwatch::worker {

/// This worker cannot do what the job asks; another one might.
class Unsupported : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A job's benchmark in the suite's terms.
struct Target {
  suite::Setup setup;
  std::function<suite::Factory> make;
};

/// Finds what `job` asks for: "test_eval[resnet18-cpu-eager]" at "full" or "smoke" scale. A model
/// of the backends "script" and "aoti" is a file in the job's directory of models. Throws
/// Unsupported, with the part that is unknown and what is known instead, or whatever is wrong with
/// the file's description.
Target resolve(protocol::Job const& job);

/// A fresh workload, seeded as the job says.
std::unique_ptr<suite::Workload> build(Target const& target, protocol::Job const& job);

/// Whether `problem` says that an operator does not work in the precision that the job asks for.
bool is_about_precision(c10::Error const& problem, protocol::Job const& job);

}  // namespace torchwatch::worker
