#include "tests/years/alarms.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "storage/base/date.h"

namespace torchwatch::years {
namespace {

using namespace std::chrono_literals;

/// One a night, and 36 hours are too long to wait.
void look_for_gap(History const& history, storage::Store& store, std::size_t night) {
  if (night == 0) return;
  auto const& before = history.nights[night - 1];
  auto const& tonight = history.nights[night];
  constexpr auto overdue = 36h;
  if (tonight.announced_at - before.announced_at <= overdue) return;
  auto const detail = "no nightly since " + before.date;
  set_alarm(
      store, true, {{}, AlarmKind::missing_nightly, "", detail, before.announced_at + overdue, {}});
  set_alarm(store, false, {{}, AlarmKind::missing_nightly, "", detail, tonight.announced_at, {}});
}

void look_at_baseline(History const& history, storage::Store& store, std::size_t night) {
  auto const& tonight = history.nights[night];
  if (tonight.state != NightlyState::done || !tonight.baseline) return;
  auto const& baseline = history.nights[*tonight.baseline];
  bool const is_old = *day_of(tonight.date) - *day_of(baseline.date) > std::chrono::days{3};
  set_alarm(store,
            is_old,
            {{},
             AlarmKind::stale_baseline,
             "",
             "nightly " + tonight.date + " is compared with " + baseline.date,
             tonight.announced_at + 4h,
             {}});
}

void look_at_failure(History const& history, storage::Store& store, std::size_t night) {
  auto const& tonight = history.nights[night];
  if (tonight.state == NightlyState::prepared) return;
  set_alarm(store,
            tonight.state == NightlyState::failed,
            {{},
             AlarmKind::nightly_failed,
             "",
             "nightly " + tonight.date + ": " + tonight.failure,
             tonight.announced_at + 5h,
             {}});
}

std::string kernel_of(std::string const& fingerprint) {
  return nlohmann::json::parse(fingerprint).at("kernel").dump();
}

/// As nightly::Alarms words it.
std::string text_of_move(History const& history, std::string const& fleet, std::size_t night) {
  auto const& hosts = history.hosts;
  auto const baseline = history.nights[night].baseline.value();
  return fmt::format(
      "nightly {} itself moved since its own night: latency in 61 of 66 series, "
      "{:+.1f}% (20 earlier nights: nine in ten up to 0.4%); kernel: {} to {}",
      history.nights[baseline].date,
      100 * (hosts.pace(fleet, night) / hosts.pace(fleet, baseline) - 1),
      kernel_of(hosts.fingerprint(fleet, baseline)),
      kernel_of(hosts.fingerprint(fleet, night)));
}

void look_at_hosts(History const& history, storage::Store& store, std::size_t night) {
  auto const& tonight = history.nights[night];
  if (tonight.state != NightlyState::done || !tonight.baseline) return;
  for (auto const& fleet : history.plan.suite.fleets) {
    bool is_changed = false;
    for (auto at = *tonight.baseline + 1; at <= night; ++at)
      is_changed = is_changed || history.hosts.is_changed(fleet, at);
    set_alarm(store,
              is_changed,
              {{},
               AlarmKind::environment,
               fleet,
               text_of_move(history, fleet, night),
               tonight.announced_at + 4h,
               {}});
  }
}

void look_at_outages(History const& history, storage::Store& store, std::size_t night) {
  auto const& tonight = history.nights[night];
  if (tonight.state != NightlyState::done) return;
  for (auto const& outage : history.plan.outages) {
    auto const& [fleet, benchmark] = history.plan.suite.benchmarks[outage.benchmark].which;
    bool const is_out = outage.holds(outage.benchmark, night);
    set_alarm(store,
              is_out,
              {{},
               AlarmKind::benchmark_stopped,
               fleet + ": " + name_of(benchmark),
               "gave nothing on nightly " + tonight.date +
                   ": crashed, worker ended by signal 11 (segmentation fault)",
               tonight.announced_at + 4h,
               {}});
  }
}

/// What comes and goes within a night.
void look_at_accidents(History const& history, storage::Store& store, std::size_t night) {
  Chance chance{history.request.seed, "accidents", night};
  auto const at = history.nights[night].announced_at + std::chrono::seconds{chance.below(20'000)};
  auto const pass = [&](double probability, AlarmKind kind, std::string subject, std::string text) {
    bool const happens = chance.happens(probability);
    auto const lasts = std::chrono::seconds{chance.from_to(600, 14'000)};
    if (!happens) return;
    auto const detail = history.texts.of(std::move(text), chance);
    set_alarm(store, true, {{}, kind, subject, detail, at, {}});
    set_alarm(store, false, {{}, kind, subject, detail, at + lasts, {}});
  };
  auto const& fleet = chance.pick(history.plan.suite.fleets);
  auto const& benchmark = chance.pick(history.plan.suite.benchmarks).which;
  pass(0.02,
       AlarmKind::runner_lost,
       fleet,
       "slot 0: the runner ended with exit status 255; ssh: connection reset by peer");
  pass(0.01, AlarmKind::odd_feed_entry, "", "latest: no build.json");
  pass(0.01,
       AlarmKind::builds_need_space,
       "",
       "214.3 GiB of builds are held, allowed are 200 GiB; the rest is in use: see torchwatch "
       "builds "
       "list");
  pass(0.02,
       AlarmKind::benchmark_undecided,
       benchmark.fleet + ": " + name_of(benchmark.benchmark),
       "could not be compared on nightly " + history.nights[night].date +
           ": timeout, no end after 600 s");
}

}  // namespace

void set_alarm(storage::Store& store, bool is_wrong, Alarm const& alarm) {
  if (is_wrong)
    store.alarms().raise(alarm.kind, alarm.subject, alarm.detail, alarm.raised_at);
  else
    store.alarms().clear(alarm.kind, alarm.subject, alarm.raised_at);
}

void look_at_night(History const& history, storage::Store& store, std::size_t night) {
  look_for_gap(history, store, night);
  look_at_accidents(history, store, night);
  look_at_baseline(history, store, night);
  look_at_hosts(history, store, night);
  look_at_outages(history, store, night);
  look_at_failure(history, store, night);
}

}  // namespace torchwatch::years
