#include "tests/years/people.h"

#include <algorithm>
#include <utility>

#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace torchwatch::years {
namespace {

namespace asio = boost::asio;

asio::awaitable<int> run_all(bisection::Queue& queue) {
  queue.start();
  co_await queue.join();
  co_return 0;
}

/// Runs the queue until `is_time`, then ends it as SIGTERM does.
asio::awaitable<int> run_until(bisection::Queue& queue, bool const& is_time) {
  queue.start();
  while (!is_time)
    co_await asio::post(asio::use_awaitable);
  co_await queue.end();
  co_return 0;
}

}  // namespace

void People::arrange() {
  for (auto const& event : stage_.script.events())
    rule_on(event);
  arrange_mutes();
  arrange_drifts();
  stage_.evenings.on(9, [this] { bisect_drift(); });
  stage_.evenings.on(0, [this] { pin_newest(); });
}

void People::rule_on(Event const& event) {
  if (event.ago == 0) return;
  auto const tomorrow = event.ago - 1;
  if (event.plot == Plot::accepted)
    stage_.evenings.on(tomorrow, [this, ago = event.ago] {
      rule_on_incident(ago,
                       RulingKind::accept,
                       "mlzhou",
                       "the check prevents wrong results; the price was discussed in the pull "
                       "request");
    });
  if (event.plot == Plot::not_reproduced)
    stage_.evenings.on(tomorrow, [this, ago = event.ago] {
      rule_on_incident(ago,
                       RulingKind::false_alarm,
                       "rohitnair",
                       "a backup ran on the host that night, and the next night is as before");
    });
}

void People::rule_on_incident(DaysAgo ago, RulingKind kind, std::string who, std::string why) {
  auto const incident = incident_of(ago);
  if (!incident) return;
  Ruling ruling;
  ruling.kind = kind;
  ruling.incident = incident->id;
  give(std::move(ruling), std::move(who), std::move(why));
}

void People::rule_on_series(RulingKind kind,
                            Series const& series,
                            std::string who,
                            std::string why) {
  Ruling ruling;
  ruling.kind = kind;
  ruling.series = {series.fleet, series.benchmark, series.metric};
  if (kind == RulingKind::mute) ruling.until = stage_.world.clock.time + std::chrono::days{90};
  give(std::move(ruling), std::move(who), std::move(why));
}

void People::give(Ruling ruling, std::string who, std::string why) {
  ruling.who = stage_.texts.of(std::move(who), chance_);
  ruling.why = stage_.texts.of(std::move(why), chance_);
  ruling.given_at = stage_.world.clock.time;
  stage_.store().rulings().give(std::move(ruling));
}

void People::arrange_mutes() {
  auto const which = benchmark_on("gpu", stage_.suite.special(), Test::eval);
  Series const series{which.fleet, which.benchmark, Metric::latency};
  stage_.evenings.on(69, [this, series] {
    rule_on_series(RulingKind::mute, series, "praman", "it is rewritten this month");
  });
  stage_.evenings.on(
      20, [this, series] { rule_on_series(RulingKind::unmute, series, "praman", "rewritten"); });
}

void People::arrange_drifts() {
  stage_.evenings.on(165, [this] {
    rule_on_series(RulingKind::accept, drifting(), "olua", "checks that we want, one by one");
  });
}

Series People::drifting() const {
  auto const which = benchmark_on("cpu", stage_.suite.special(), Test::eval);
  return {which.fleet, which.benchmark, Metric::latency};
}

std::optional<Incident> People::incident_of(DaysAgo ago) {
  auto const nightly = stage_.nightly_of(ago);
  return nightly ? stage_.store().incidents().of_nightly(nightly->id) : std::nullopt;
}

std::optional<BisectionRequest> People::request_between(DaysAgo from,
                                                        DaysAgo to,
                                                        Series const& series) {
  auto const start = stage_.nightly_of(from);
  auto const end = stage_.nightly_of(to);
  if (!start || !end) return std::nullopt;
  BisectionRequest request{start->commit, end->commit, {series}};
  request.threshold = 0.05;
  request.prior = Prior::paths;
  return request;
}

std::optional<Bisection> People::ask(BisectionOrder order) {
  auto asked = stage_.world.run(stage_.world.parts->queue.ask(std::move(order)));
  return asked ? std::optional{std::move(*asked)} : std::nullopt;
}

void People::bisect_drift() {
  auto request = request_between(15, 9, drifting());
  if (!request || !ask({std::move(*request), std::nullopt})) return;
  stage_.world.run(run_all(stage_.world.parts->queue));
}

void People::pin_newest() {
  auto const nightly = stage_.nightly_of(0);
  Pin const pin{stage_.texts.of("ada", chance_),
                stage_.texts.of("profiling convolutions on it this week", chance_),
                stage_.world.clock.time};
  auto& kept = stage_.world.parts->kept;
  kept.pin(kept.name_of(nightly.value().prefix), pin).value();
}

void People::leave_bisections() {
  auto const& events = stage_.script.events();
  auto const event = std::ranges::find(events, Plot::bisected_again, &Event::plot);
  auto const incident = incident_of(event->ago).value();
  auto const first = stage_.store().bisections().of_incident_in_brief(incident.id).front();
  BisectionOrder order{first.request, incident.id};
  order.request.threshold = 0.03;
  ask(std::move(order)).value();
  constexpr int rounds = 2;
  bool is_hanging = false;
  stage_.interrupt({rounds, [&is_hanging](BisectionId) {
                      is_hanging = true;
                    }});
  stage_.world.run(run_until(stage_.world.parts->queue, is_hanging));
  ask({request_between(8, 0, drifting()).value(), std::nullopt}).value();
}

}  // namespace torchwatch::years
