#pragma once

#include <string>

/// Where the programs lie that come with this one, seen from `executable`, this program.
namespace torchwatch::service {

/// torchwatch-fetch, beside it.
std::string fetch_program(std::string const& executable);

/// deploy/build-worker, beside what workers are compiled from.
std::string worker_program(std::string const& executable);

}  // namespace torchwatch::service
