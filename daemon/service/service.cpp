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
      fetcher{executor, fetch_program(executable)},
      builder{executor, options, fetcher, store, clock},
      parts{
          executor,
          options,
          Edges{store, clock, rounds, builder, fetcher, report::https_transport(options.github)}} {}

}  // namespace torchwatch::service
