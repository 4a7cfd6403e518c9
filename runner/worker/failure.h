#pragma once

#include <exception>
#include <stdexcept>

#include "runner/protocol.h"

namespace torchwatch::worker {

/// The error of a job that this worker does not support. Another worker might.
class Unsupported : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The error of a missing GPU, when LibTorch is built for CUDA. The host may have lost it.
class NoDevice : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Returns the failure of a job that threw `problem`. The code is
///
///   "unsupported"    Unsupported, a bad description of a model, or an operator that does not exist
///                    for the job's precision or device
///   "device_memory"  the device has too little free memory; other processes may use the rest
///   "device"         the device failed by itself, is missing, or is busy
///   "failed"         all others
///
/// LibTorch has no exception types for most of these, so the texts of LibTorch and CUDA decide.
protocol::Failure failure_of(protocol::Job const& job, std::exception const& problem);

}  // namespace torchwatch::worker
