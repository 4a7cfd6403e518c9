#pragma once

#include <cstddef>
#include <vector>

#include "storage/domain/benchmark.h"
#include "tests/years/request.h"

namespace torchwatch::years {

/// A day, counted back from the last one, which is 0.
using DaysAgo = std::size_t;

/// The fate of a day's nightly.
enum class NightlyFate {
  measured,
  missing,  ///< is not published
  cut_off,  ///< its file is incomplete
  crashes,  ///< all of its processes fail
};

/// The event of a measured nightly. All except `improvement` open an incident.
enum class Plot {
  culprit,
  two_culprits,    ///< each changes series of its own
  range,           ///< a culprit among unbuildable commits
  accepted,        ///< a culprit whose change a user accepts
  bisected_again,  ///< a culprit; the history ends while a second bisection is running
  paused,          ///< a culprit; a user pauses the bisection
  cancelled,       ///< a culprit; a user cancels the bisection
  undecided,       ///< a culprit; the bisection reaches its limit of measurements
  failed,          ///< a culprit; an end of the bisection is unbuildable
  not_reproduced,  ///< the host disturbs some processes; a user rules it a false alarm
  environment,     ///< the published build is slower, its commit is not
  layout,          ///< one build of a commit is slower, another is not
  improvement,
};

struct Event {
  DaysAgo ago = 0;
  Plot plot = Plot::culprit;
  Metric metric = Metric::latency;
};

/// The script of a history. The newest hundred days have each kind of event; older days have about
/// one incident a month. Events are oldest first, and only in measured nightlies that have a
/// baseline.
class Script {
 public:
  explicit Script(Request const& request);

  NightlyFate fate_of(DaysAgo ago) const { return fates_.at(ago); }

  std::vector<Event> const& events() const { return events_; }

 private:
  void draw_fates(Request const& request);
  void draw_events(Request const& request);
  bool place(Event event);

  std::vector<NightlyFate> fates_;
  std::vector<Event> events_;
};

}  // namespace torchwatch::years
