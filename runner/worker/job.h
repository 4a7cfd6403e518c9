#pragma once

#include <functional>
#include <memory>

#include "runner/protocol.h"
#include "runner/suite/registry.h"
#include "runner/worker/device.h"
#include "runner/worker/gpu.h"

namespace torchwatch::worker {

/// A job's benchmark in the suite's terms.
struct Target {
  suite::Setup setup;
  std::function<suite::Factory> make;
  Device* device = nullptr;  ///< one of those that it was resolved for
  Tf32 tf32 = Tf32::as_pytorch;
};

/// Finds what `job` asks for: "test_eval[resnet18-cpu-eager]" at "full" or "smoke" scale. A model
/// of the backends "script" and "aoti" is a file in the job's directory of models. Throws
/// Unsupported, with the part that is unknown and what is known instead, or whatever is wrong with
/// the file's description.
Target resolve(protocol::Job const& job, Devices const& devices);

/// A fresh workload, seeded as the job says.
std::unique_ptr<suite::Workload> build(Target const& target, protocol::Job const& job);

}  // namespace torchwatch::worker
