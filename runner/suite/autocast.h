#pragma once

#include <torch/torch.h>

namespace torchwatch::suite {

/// Automatic mixed precision while it exists: LibTorch chooses the precision of each operator of
/// this thread on devices of that type, and caches cast weights. Half precision on CUDA, bfloat16
/// on the CPU.
class Autocast {
 public:
  explicit Autocast(torch::DeviceType device);
  ~Autocast();
  Autocast(Autocast const&) = delete;
  Autocast& operator=(Autocast const&) = delete;

 private:
  torch::DeviceType device_;
  bool before_;
};

}  // namespace torchwatch::suite
