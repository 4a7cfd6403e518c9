#include "daemon/service/service.h"

#include <filesystem>

#include "daemon/measure/runner_process.h"

namespace torchwatch::service {
namespace asio = boost::asio;

namespace {

/// torchwatch-fetch lies beside this program.
build::Fetcher fetcher_beside(asio::any_io_executor const& executor,
                              std::string const& executable) {
  return {executor, std::filesystem::path{executable}.replace_filename("torchwatch-fetch")};
}

}  // namespace

Service::Service(asio::any_io_executor executor,
                 config::Options const& options,
                 std::string const& executable,
                 storage::Store& store,
                 Clock const& clock)
    : fleets{executor,
             options.fleets,
             [&](config::FleetOptions const& fleet) {
               return measure::runner_processes(executor, fleet, executable);
             }},
      rounds{store, clock, fleets, options.measure, options.suite},
      builder{executor,
              options.source,
              options.state_dir,
              fetcher_beside(executor, executable),
              store,
              clock},
      parts{executor,
            options,
            store,
            clock,
            rounds,
            builder,
            report::https_transport(options.github)} {}

}  // namespace torchwatch::service
