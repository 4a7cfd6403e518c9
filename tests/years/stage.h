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

/// Actions that are planned for later days.
class Agenda {
 public:
  using Action = std::function<void()>;

  /// Plans an action. It is not run if the day is before the history begins.
  void on(DaysAgo ago, Action action) { days_[ago].push_back(std::move(action)); }

  bool has(DaysAgo ago) const { return days_.contains(ago); }

  void run(DaysAgo ago);

 private:
  std::map<DaysAgo, std::vector<Action>> days_;
};

/// The interruption of a bisection: `then` is called after `rounds` rounds.
struct Interruption {
  int rounds = 0;
  std::function<void(BisectionId)> then;
};

/// The world in which a year happens, with the state that Year, Plots and People share.
struct Stage {
  explicit Stage(Request of);
  Stage(Stage const&) = delete;
  Stage& operator=(Stage const&) = delete;
  ~Stage() = default;

  storage::Store& store() { return world.parts->store; }

  std::string date_of(DaysAgo ago) const;

  /// Returns the nightly of a day; nullopt if there is none.
  std::optional<Nightly> nightly_of(DaysAgo ago);

  /// Returns a predicate that is true for builds published on the days `from` to `to`.
  std::function<bool(Build const&)> is_published(DaysAgo from, DaysAgo to) const;

  /// Makes the next bisection hang after some rounds, and calls `then` while it hangs.
  void interrupt(Interruption next) { interruption = std::move(next); }

  Request const request;
  Suite const suite;
  Script const script;
  Texts const texts;
  Landing const landing;
  Processes processes;
  Agenda mornings;  ///< run when the day's commits have landed, before its nightly
  Agenda evenings;  ///< run when the day's nightly is judged
  DaysAgo today = 0;
  std::size_t first_commit = 0;  ///< today's first
  std::size_t last_commit = 0;   ///< today's last; the nightly is built from it
  std::string library;           ///< the library in published builds
  std::optional<Interruption> interruption;
  fakes::World world;

 private:
  void before_round(measure::RoundKey const& key);
  void hang(measure::RoundKey const& key);
};

/// Returns a predicate that is true for these series.
fakes::World::Moves is_any_of(std::vector<Series> series);

}  // namespace torchwatch::years
