#pragma once

#include <string>

#include <boost/asio/any_io_executor.hpp>

#include "config/options.h"
#include "daemon/measure/runner.h"

namespace torchwatch::measure {

/// Starts runners as child processes through the fleet's launcher, which inherits all variables but
/// GitHub's token; workers are kept from config::private_paths. `executable`: this program, as it
/// is called on the fleet's hosts. A runner that is given up is asked to end and killed after some
/// seconds, so that a launcher has time to withdraw what it asked a scheduler for.
StartRunner runner_processes(boost::asio::any_io_executor executor,
                             config::FleetOptions const& fleet,
                             std::string executable,
                             config::Options const& options);

}  // namespace torchwatch::measure
