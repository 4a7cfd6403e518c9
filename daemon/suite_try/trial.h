#pragma once

#include <functional>
#include <string>
#include <vector>

#include <boost/asio/awaitable.hpp>

#include "config/options.h"
#include "daemon/suite_try/checks.h"
#include "runner/protocol.h"
#include "storage/base/result.h"

namespace torchwatch::suite_try {

/// A suite to be tried on one benchmark and one build.
struct Subject {
  config::SuiteOptions suite;
  protocol::Job job;                ///< for the benchmark, with its build and limits
  config::FleetOptions fleet;       ///< sandbox of the worker; its launcher is not used
  std::vector<std::string> hidden;  ///< paths that the worker may not read
  config::DecideOptions decide;
};

using OnCheck = std::function<void(std::string const& check)>;

/// Makes all checks, and returns their results in the order of the pages. Calls `on_check` before
/// each one. A check that needs what an earlier one lacks is skipped. Starts workers on this host,
/// several of them one after the other, and holds the locks of its devices meanwhile. When it ends,
/// none of their processes is left. Fails with `unavailable` when this host can make no sandbox.
/// Metrics must be declared.
boost::asio::awaitable<Result<std::vector<CheckResult>>> try_suite(Subject subject,
                                                                   OnCheck on_check);

}  // namespace torchwatch::suite_try
