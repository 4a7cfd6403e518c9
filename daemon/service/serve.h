#pragma once

#include <string>

#include "config/options.h"
#include "storage/base/result.h"

namespace torchwatch::service {

/// Runs the watch loop and the HTTP server until SIGINT or SIGTERM; SIGHUP and SIGUSR1 change
/// nothing. Reports to the service manager (ServiceManager). `executable`: this program;
/// `config_file`: for the log. Fails when a token or a certificate is invalid, when the database
/// cannot be opened, and when it cannot listen.
Result<> serve(config::Options const& options,
               std::string const& executable,
               std::string const& config_file);

}  // namespace torchwatch::service
