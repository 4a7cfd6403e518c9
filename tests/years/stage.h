#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "storage/domain/bisection.h"
#include "tests/fakes/memory/world.h"
#include "tests/years/hostile.h"
#include "tests/years/landing.h"
#include "tests/years/processes.h"
#include "tests/years/script.h"
#include "tests/years/suite.h"

namespace torchwatch::years {

/// Things to do on days to come.
class Agenda {
 public:
  using Action = std::function<void()>;

  /// What is to be done on a day before the history begins is not done.
  void on(DaysAgo ago, Action action) { days_[ago].push_back(std::move(action)); }

  bool has(DaysAgo ago) const { return days_.contains(ago); }

  void run(DaysAgo ago);

 private:
  std::map<DaysAgo, std::vector<Action>> days_;
};

/// A bisection that does not run to its end: what becomes of it after so many rounds.
struct Interruption {
  int rounds = 0;
  std::function<void(BisectionId)> then;
};

/// The world that a year happens in, and what its authors share.
struct Stage {
  explicit Stage(Request of);
  Stage(Stage const&) = delete;
  Stage& operator=(Stage const&) = delete;
  ~Stage() = default;

  storage::Store& store() { return world.parts->store; }

  std::string date_of(DaysAgo ago) const;

  /// The nightly of a day; nothing when there is none.
  std::optional<Nightly> nightly_of(DaysAgo ago);

  /// Whether a build is one that was published on the days `from` to `to`.
  std::function<bool(Build const&)> is_published(DaysAgo from, DaysAgo to) const;

  /// Hangs the next bisection after so many rounds of its search, and calls `then` meanwhile.
  void interrupt(Interruption next) { interruption = std::move(next); }

  Request const request;
  Suite const suite;
  Script const script;
  Texts const texts;
  Landing const landing;
  Processes processes;
  Agenda mornings;  ///< when the day's commits have landed, before its nightly
  Agenda evenings;  ///< when its nightly is judged
  DaysAgo today = 0;
  std::size_t first_commit = 0;  ///< of today
  std::size_t last_commit = 0;   ///< of today, which the nightly is built from
  std::string library;           ///< that published builds come with
  std::optional<Interruption> interruption;
  fakes::World world;

 private:
  void before_round(measure::RoundKey const& key);
  void hang(measure::RoundKey const& key);
};

/// Whether a series is one of some.
fakes::World::Moves is_any_of(std::vector<Series> series);

}  // namespace torchwatch::years
