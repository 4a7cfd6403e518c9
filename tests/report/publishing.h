#pragma once

#include <chrono>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "daemon/report/messages.h"
#include "daemon/report/sender.h"
#include "tests/fakes/github/direct_transport.h"
#include "tests/fakes/github/fake_transport.h"
#include "tests/fakes/github/run.h"
#include "tests/fakes/memory/world.h"
#include "tests/storage/samples.h"

/// Incidents that are published, without a network.
namespace torchwatch::report {

/// Passes every request on to a transport that outlives it.
class Borrowed final : public github::Transport {
 public:
  explicit Borrowed(github::Transport& transport) : transport_{transport} {}

  boost::asio::awaitable<Result<github::Response>> send(github::Request request) override {
    return transport_.send(std::move(request));
  }

 private:
  github::Transport& transport_;
};

/// A service with incidents, its GitHub, and the receiver of its webhook. Waiting moves the clock.
/// Incident N is of nightly N + 1; nightly 1 is the baseline of all.
class Publishing {
 public:
  explicit Publishing(int incidents = 1) {
    ::setenv("TORCHWATCH_TEST_TOKEN", "ghp_SecretOfTheService", 1);
    options.state_dir = folder.path().string();
    options.github.repository = "pytorch/pytorch";
    options.github.token_env = "TORCHWATCH_TEST_TOKEN";
    change({{"settings", {{"writes_per_minute", 1'000'000}, {"hourly_limit", 1'000'000}}}});
    open_store();
    add_nightly(1);
    for (int number = 1; number <= incidents; ++number)
      add_incident(number);
  }

  /// Opens the database again, as a service does when it starts.
  void open_store() {
    store.reset();
    store = std::make_unique<storage::Store>(
        storage::Store::open(folder.path() / "torchwatch.sqlite").value());
  }

  /// Stores an event of an incident with its messages.
  void happen(IncidentEventKind kind, IncidentState state, std::int64_t incident = 1) {
    IncidentEvent event;
    event.incident = IncidentId{incident};
    event.kind = kind;
    event.state = state;
    event.detail = detail;
    event.at = clock.now();
    auto const story = storage::story_of(*store, store->incidents().find(event.incident).value());
    store->incident_events().add(event, messages_of(story, event, options));
  }

  void open_incident(std::int64_t incident = 1) {
    happen(IncidentEventKind::opened, IncidentState::open, incident);
  }

  /// Sends what is due, by a service that has just started.
  Result<> send() {
    Sender sender{*store, clock, destinations_of(options, *store, network(), web_network())};
    return fakes::run(sender.send_due());
  }

  /// Sends all, however long it takes.
  void send_all() {
    for (int times = 0; times < 100 && !store->outbox().unfinished().empty(); ++times) {
      static_cast<void>(send());
      clock.time += std::chrono::hours{6};
    }
  }

  std::vector<OutboxEntry> sent_to(std::string const& destination, std::int64_t incident = 1) {
    auto entries = store->outbox().of(IncidentId{incident});
    std::erase_if(entries, [&](OutboxEntry const& entry) {
      return entry.message.destination != destination;
    });
    return entries;
  }

  void change(nlohmann::json const& control) {
    hub.control(control, fakes::DirectTransport::host());
  }

  void fail(nlohmann::json const& fault) { change({{"faults", nlohmann::json::array({fault})}}); }

  /// The issue of this number as GitHub has it.
  nlohmann::json issue(std::size_t number = 1) const {
    return hub.state().at("issues").at(number - 1);
  }

  /// The bodies of an issue's comments, oldest first.
  std::vector<std::string> comments(std::size_t number = 1) const {
    std::vector<std::string> bodies;
    auto const state = hub.state();
    for (auto const& comment : state.at("comments"))
      if (comment.at("issue") == number) bodies.push_back(comment.at("body"));
    return bodies;
  }

  /// The subjects of the open alarms about messages.
  std::vector<std::string> alarms() {
    std::vector<std::string> subjects;
    for (auto const& alarm : store->alarms().open())
      if (alarm.kind != AlarmKind::label_dropped) subjects.push_back(alarm.subject);
    return subjects;
  }

  Network network() {
    Network made{[this] { return open_transport(); },
                 clock,
                 [this](std::chrono::seconds pause) {
                   return wait(pause);
                 }};
    made.refused_until = refused_until;
    return made;
  }

  Network web_network() {
    return {[this] { return std::make_unique<Borrowed>(web); }, clock};
  }

  fakes::MemoryFolder folder;
  fakes::TestClock clock;
  fakes::FakeGithub hub{""};
  fakes::FakeTransport web;  ///< the receiver of the webhook
  config::Options options;
  std::unique_ptr<storage::Store> store;
  /// The end of the pause after a refusal. A restarted service has forgotten it.
  std::shared_ptr<Timestamp> refused_until = std::make_shared<Timestamp>();
  std::string detail;  ///< the detail of the next events
  /// Opens a connection to GitHub.
  std::function<std::unique_ptr<github::Transport>()> open_transport = [this] {
    return std::make_unique<fakes::DirectTransport>(hub);
  };
  /// Called after the clock has moved.
  std::function<void()> on_wait = [] {
  };

 private:
  void add_nightly(int number) {
    auto const digit = static_cast<char>('0' + number);
    store->nightlies().announce(tests::nightly_of("2026-01-0" + std::to_string(number), digit));
  }

  void add_incident(int number) {
    add_nightly(number + 1);
    auto nightly = store->nightlies().find(NightlyId{number + 1}).value();
    nightly.baseline = NightlyId{1};
    store->nightlies().update(nightly);
    store->incidents().record(nightly.id, {tests::latency_of("dlrm"), tests::slower()});
    store->incidents().open(NightlyId{1}, nightly.id, clock.now());
  }

  boost::asio::awaitable<void> wait(std::chrono::seconds pause) {
    clock.time += pause;
    on_wait();
    co_return;
  }
};

}  // namespace torchwatch::report
