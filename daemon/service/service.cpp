#include "daemon/service/service.h"

#include <memory>
#include <utility>

#include "daemon/measure/runner_process.h"
#include "daemon/metrics/counted_transport.h"
#include "daemon/service/programs.h"

namespace torchwatch::service {
namespace asio = boost::asio;

namespace {

report::OpenTransport counted(report::OpenTransport open, metrics::Counters& counters) {
  return [open = std::move(open), &counters] {
    return std::make_unique<metrics::CountedTransport>(open(), counters);
  };
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
               return measure::runner_processes(executor, fleet, executable, options);
             }},
      rounds{store, clock, seeds, fleets, options, counters},
      workshop{executor, options},
      workers{executor, worker_program(executable), workshop},
      fetcher{executor, fetch_program(executable)},
      kept{options, store, clock},
      builder{executor, workshop, fetcher, kept, store, clock},
      parts{executor,
            options,
            ExternalServices{store,
                             clock,
                             kept,
                             rounds,
                             builder,
                             workers,
                             fetcher,
                             counted(report::https_transport(options.github), counters)}} {
  rounds.remove_slots_that_are_gone();
}

}  // namespace torchwatch::service
