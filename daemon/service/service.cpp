#include "daemon/service/service.h"

#include <filesystem>

#include "daemon/measure/runner_process.h"

namespace torchwatch::service {
namespace asio = boost::asio;

namespace {

/// torchwatch-fetch lies beside this program.
std::string fetch_program(std::string const& executable) {
  return std::filesystem::path{executable}.replace_filename("torchwatch-fetch");
}

/// What workers are compiled from lies where it is installed, seen from this program.
std::string worker_program(std::string const& executable) {
  auto const prefix = std::filesystem::path{executable}.parent_path().parent_path();
  return prefix / "share/torchwatch/worker/deploy/build-worker";
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
      workers{executor, worker_program(executable), options},
      renewing_rounds{rounds, workers},
      fetcher{executor, fetch_program(executable)},
      builder{executor, options, fetcher, store, clock},
      parts{executor,
            options,
            Edges{store,
                  clock,
                  renewing_rounds,
                  Makers{builder, workers, fetcher},
                  report::https_transport(options.github)}} {}

}  // namespace torchwatch::service
