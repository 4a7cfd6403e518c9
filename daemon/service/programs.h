#pragma once

#include <string>

/// The paths of the programs that are delivered with this one. `executable`: this program.
namespace torchwatch::service {

/// Returns torchwatch-fetch, next to this program.
std::string fetch_program(std::string const& executable);

/// Returns deploy/build-worker, next to the sources of workers.
std::string worker_program(std::string const& executable);

}  // namespace torchwatch::service
