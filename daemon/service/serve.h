#pragma once

#include <string>

#include "config/options.h"
#include "daemon/service/reload.h"
#include "storage/base/result.h"

namespace torchwatch::service {

/// Runs the watch loop and the HTTP server until SIGINT or SIGTERM. Then running rounds and
/// messages are finished and stored, for 30 s at most; a second such signal ends the program at
/// once. SIGHUP reads `file` again. A valid configuration is used from then on, without closing the
/// listening socket if its address is the same. An invalid one is logged, and changes nothing.
/// Reports to the service manager (ServiceManager).
///
/// `executable`: this program. Fails when a token or a certificate is invalid, when the database
/// cannot be opened, and when it cannot listen.
Result<> serve(config::Options options,
               std::string const& executable,
               ConfigurationFile const& file);

}  // namespace torchwatch::service
