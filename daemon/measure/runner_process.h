#pragma once

#include <string>

#include <boost/asio/any_io_executor.hpp>

#include "config/options.h"
#include "daemon/measure/runner.h"

namespace torchwatch::measure {

/// Starts runners as child processes through the fleet's launcher. The launcher inherits all
/// variables except GitHub's token and those that look like secrets. Workers cannot see
/// config::private_paths. `executable`: the path of this program on the fleet's hosts. A runner
/// that is given up gets a request to end, and is killed after some seconds. A launcher needs this
/// time to withdraw its request to a scheduler.
StartRunner runner_processes(boost::asio::any_io_executor executor,
                             config::FleetOptions const& fleet,
                             std::string executable,
                             config::Options const& options);

}  // namespace torchwatch::measure
