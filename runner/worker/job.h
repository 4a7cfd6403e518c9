#pragma once

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
  suite::Model const* model = nullptr;
  suite::Test test = suite::Test::train;
  suite::Scale scale = suite::Scale::full;
  torch::Device device = torch::kCPU;
};

/// Finds what `job` asks for: "test_eval[resnet18-cpu-eager]" at "full" or "smoke" scale. Throws
/// Unsupported, with the part that is unknown and what is known instead.
Target resolve(protocol::Job const& job);

/// A fresh workload, seeded as the job says.
std::unique_ptr<suite::Workload> build(Target const& target, protocol::Job const& job);

}  // namespace torchwatch::worker
