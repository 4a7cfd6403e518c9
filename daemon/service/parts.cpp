#include "daemon/service/parts.h"

#include <utility>

#include <spdlog/spdlog.h>

namespace torchwatch::service {
namespace asio = boost::asio;

ServiceParts::ServiceParts(asio::any_io_executor const& executor,
                           config::Options const& options,
                           ExternalServices const& services)
    : kept{services.kept},
      prepared_rounds{services.rounds, kept, services.workers},
      git_fetch{executor, options.source},
      patient_builder{services.builder, services.store, services.clock},
      bisector{
          services.store, prepared_rounds, patient_builder, git_fetch, options, services.clock},
      queue{executor, options.source, services.store, services.clock, git_fetch, bisector},
      alarms{options, services.store, services.clock},
      announcer{
          feed::open_feed(options, services.fetcher, git_fetch, services.store, services.clock),
          options.feed,
          services.store,
          services.clock},
      packages{executor, options, services.fetcher, kept, git_fetch, services.workers},
      preparation{services.store, services.clock, services.builder, git_fetch, packages},
      lost_builds{services.store, preparation, kept},
      wanted_builds{services.store, preparation, kept},
      raw_data_cleanup{services.store, options.store},
      sweep{options, services.store, prepared_rounds},
      slot_review{options, services.store, services.clock},
      verdicts{options, services.store, services.clock, prepared_rounds, alarms},
      rebuilds{options, services.store, prepared_rounds, services.builder, git_fetch},
      suite_profile{options, services.store, prepared_rounds},
      investigation{options, services.store, services.clock, prepared_rounds, queue},
      stages{services.store,
             preparation,
             sweep,
             slot_review,
             verdicts,
             rebuilds,
             suite_profile,
             investigation},
      life{options, services.store, services.clock, prepared_rounds},
      silence{options, services.store, services.clock},
      network{report::shared_network(
          options.github, services.open_transport, services.clock, services.sleep)},
      sender{
          services.store,
          services.clock,
          report::destinations_of(
              options,
              services.store,
              network,
              report::Network{report::https_transport(options.publish.webhook), services.clock})},
      answers{options,
              services.store,
              network,
              [this](BisectionOrder order) {
                return ask(std::move(order));
              }},
      pipeline{services.store, announcer, stages, alarms, life, sender} {}

asio::awaitable<Result<>> ServiceParts::pass() {
  kept.make_space();
  auto passed = co_await lost_builds.bring();
  queue.start();
  if (passed) passed = co_await pipeline.pass();
  co_await wanted_builds.bring();
  co_await raw_data_cleanup.delete_raw_samples();
  // Labels can wait for the next pass.
  auto const read = co_await answers.read_labels();
  if (!read) spdlog::warn("feedback_failed reason=\"{}\"", read.error().message);
  life.advance();
  silence.check();
  auto const sent = co_await sender.send_due();
  co_return passed ? sent : passed;
}

asio::awaitable<Result<>> ServiceParts::answer() {
  auto const polled = co_await answers.poll();
  life.advance();
  silence.check();
  // A pass, which sends as well, can last hours.
  auto const sent = co_await sender.send_due();
  co_return polled ? sent : polled;
}

asio::awaitable<Result<Bisection>> ServiceParts::ask(BisectionOrder order) {
  auto const asked = co_await queue.ask(std::move(order));
  if (asked) queue.start();
  co_return asked;
}

}  // namespace torchwatch::service
