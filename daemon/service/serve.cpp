#include "daemon/service/serve.h"

#include <memory>
#include <optional>
#include <utility>

#include <boost/asio/io_context.hpp>
#include <spdlog/spdlog.h>
#include <sys/prctl.h>

#include "daemon/service/changed_configuration.h"
#include "daemon/service/checkup.h"
#include "daemon/service/open_store.h"
#include "daemon/service/period.h"
#include "daemon/service/service_manager.h"
#include "daemon/service/signals.h"

namespace torchwatch::service {
namespace asio = boost::asio;

namespace {

/// Runs the service with one configuration, and logs its beginning as `event`. Returns the next
/// configuration; nothing when the service stops.
Result<std::optional<CheckedConfiguration>> run_period(LastingParts& lasting,
                                                       CheckedConfiguration configuration,
                                                       std::string const& event) {
  auto const state_dir = configuration.options.state_dir;
  auto answering_loop = std::make_unique<asio::io_context>(1);
  auto listener = lasting.listener->duplicate(answering_loop->get_executor());
  if (!listener) return listener.error();
  http::Endpoint endpoint{std::move(*listener), std::move(configuration.tls)};
  Period period{lasting, std::move(configuration), std::move(answering_loop), std::move(endpoint)};
  spdlog::info("{} config={} state_dir={}", event, lasting.file.path, state_dir);
  return period.run();
}

}  // namespace

Result<> serve(config::Options options,
               std::string const& executable,
               ConfigurationFile const& file) {
  // Programs of the same user see neither our variables nor our memory.
  ::prctl(PR_SET_DUMPABLE, 0);
  Signals signals;
  asio::io_context sockets{1};
  auto store = open_store(options);
  if (!store) return store.error();
  auto reader = storage::Store::open_reader(store_file(options));
  if (!reader) return reader.error();
  auto checked = check_configuration(std::move(options), sockets.get_executor());
  if (!checked) return checked.error();
  std::optional<http::Listener> listener;
  SystemClock const clock;
  Checkup const checkup{store_file(checked->options), clock};
  auto const manager = ServiceManager::from_environment();
  LastingParts lasting{executable,
                       *store,
                       *reader,
                       checkup,
                       manager,
                       signals,
                       file,
                       sockets.get_executor(),
                       listener};
  std::optional<CheckedConfiguration> current;
  current.emplace(std::move(*checked));
  for (bool is_first = true; current; is_first = false) {
    if (current->listener) listener.emplace(std::move(*current->listener));
    auto const adopted = adopt_configuration(*store, current->options, clock.now());
    if (!adopted) return adopted.error();
    auto const* const event = is_first ? "service_started" : "service_reloaded";
    auto next = run_period(lasting, std::move(*current), event);
    if (!next) return next.error();
    current.reset();
    if (*next) current.emplace(std::move(**next));
    if (current) file.on_use(current->options);
  }
  manager.send("STOPPING=1");
  spdlog::info("service_stopped");
  return {};
}

}  // namespace torchwatch::service
