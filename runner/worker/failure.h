#pragma once

#include <exception>
#include <stdexcept>

#include "runner/protocol.h"

namespace torchwatch::worker {

/// This worker cannot do what the job asks; another one might.
class Unsupported : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The device is not there, though the build is for one: its host may have lost it.
class NoDevice : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// What to say of a job that ended in `problem`. The code is
///
///   "unsupported"    Unsupported, a bad description of a model, an operator that there is none of
///                    in the job's precision or on its device
///   "device_memory"  the device has too little memory left: others on it may hold the rest
///   "device"         the device failed by itself, is not there, or is somebody else's for now
///   "failed"         any other
///
/// LibTorch has no types for most of these, so that its words and CUDA's tell.
protocol::Failure failure_of(protocol::Job const& job, std::exception const& problem);

}  // namespace torchwatch::worker
