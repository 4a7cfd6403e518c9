#pragma once

#include <functional>
#include <memory>

#include "runner/protocol.h"
#include "runner/suite/registry.h"
#include "runner/worker/device.h"
#include "runner/worker/gpu.h"

namespace torchwatch::worker {

/// The workload, device and settings for a job's benchmark.
struct Target {
  suite::Setup setup;
  std::function<suite::Factory> make;
  Device* device = nullptr;  ///< one of the devices passed to resolve()
  Tf32 tf32 = Tf32::as_pytorch;
};

/// Finds the benchmark of `job`: "test_eval[resnet18-cpu-eager]" at "full" or "smoke" scale. Models
/// of the backends "script" and "aoti" are files in the job's directory of models. Throws
/// Unsupported, with the unknown part and the allowed values, or BadDescription for the
/// description of a file.
Target resolve(protocol::Job const& job, Devices const& devices);

/// Builds a new workload with the job's seed.
std::unique_ptr<suite::Workload> build(Target const& target, protocol::Job const& job);

}  // namespace torchwatch::worker
