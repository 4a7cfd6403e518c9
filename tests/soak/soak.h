#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "tests/fakes/github/fake_github.h"
#include "tests/fakes/memory/executioner.h"
#include "tests/fakes/memory/world.h"
#include "tests/report/faulty_transport.h"
#include "tests/soak/full_disk.h"
#include "tests/soak/outcome.h"
#include "tests/soak/plan.h"

namespace torchwatch::soak {

/// The size of a soak test.
struct Request {
  std::uint64_t seed = 1;
  std::size_t days = 365;
  int kills = 0;  ///< kills of the service, at random moments
};

/// The service, which lives through a plan with a real database, and a faulty world around it.
class Soak {
 public:
  explicit Soak(Request request);

  Plan const& plan() const { return plan_; }

  /// Lives through all days, then sends what still waits. Calls `progress` after each day with the
  /// number of days.
  void live(std::function<void(std::size_t)> const& progress = [](std::size_t) {});

  /// Returns the results so far.
  Outcome outcome();

 private:
  void configure();
  void begin_life();
  void script();
  void restart();

  void live_through(PlannedDay const& day);
  void begin(PlannedDay const& day);
  void change_disk(PlannedDay const& day);
  void land(PlannedDay const& day);
  void land_changes();
  void change(std::string const& message, Planted const& planted, double ratio);
  void publish(PlannedDay const& day);
  bool happen_later_that_day(PlannedDay const& day, int hour);
  void try_to_pass();
  Result<> pass();
  Result<> pass_until_killed();
  void recover();
  void send_the_rest();
  void sample();

  int due_kills() const;
  void arm();
  void disarm();
  double host_factor() const;

  FoundIncident found_from(Incident const& incident, nlohmann::json const& github);
  void count_messages(Incident const& incident, nlohmann::json const& github, Published& published);
  std::size_t day_of_time(Timestamp time) const;

  std::filesystem::path database() const { return world_.folder.path() / "torchwatch.sqlite"; }

  Request request_;
  Plan plan_;
  report::Dice dice_;
  FullDisk disk_;
  report::Faults faults_;
  fakes::FakeGithub hub_{""};
  fakes::World world_{1};
  std::optional<fakes::Executioner> executioner_;  ///< none without kills

  std::size_t today_ = 0;
  bool has_failed_ = false;  ///< the last pass
  CommitSha tonight_;        ///< trunk commit of the day's nightly
  std::string late_url_;     ///< file that is published on the next day; empty: none
  std::string file_url_;     ///< file of the day's nightly; empty: none
  int granted_ = 0;
  int writes_of_the_day_ = 0;
  int usual_writes_ = 150;  ///< writes of a day
  std::size_t processes_ = 0;
  Outcome outcome_;
};

}  // namespace torchwatch::soak
