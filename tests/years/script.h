#pragma once

#include <cstddef>
#include <vector>

#include "storage/domain/benchmark.h"
#include "tests/years/request.h"

namespace torchwatch::years {

/// Days are counted back from the last one, which is 0.
using DaysAgo = std::size_t;

/// What becomes of a day's nightly.
enum class NightlyFate {
  measured,
  missing,  ///< none is published
  cut_off,  ///< its file cannot be unpacked
  crashes,  ///< none of its processes gives a result
};

/// What happens in a night that is measured. All but `improvement` open an incident.
enum class Plot {
  culprit,
  two_culprits,    ///< on series of their own
  range,           ///< the culprit lies among commits that do not build
  accepted,        ///< a culprit whose price a person accepts
  asked_again,     ///< a culprit; in the end a person's second bisection of it is running
  paused,          ///< a culprit; a person pauses the bisection
  cancelled,       ///< a culprit; a person cancels the bisection
  undecided,       ///< a culprit; the bisection may not measure enough
  failed,          ///< a culprit; an end of the bisection cannot be built
  not_reproduced,  ///< the host disturbed some processes; a person calls it a false alarm
  environment,     ///< the published build is slower, and not its commit
  layout,          ///< one build of a commit is slower, and another is not
  improvement,
};

struct Event {
  DaysAgo ago = 0;
  Plot plot = Plot::culprit;
  Metric metric = Metric::latency;
};

/// What is to happen: the newest hundred days show one of everything, older ones have an incident a
/// month. The events are the oldest first, in nights that are measured and follow another.
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
