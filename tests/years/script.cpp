#include "tests/years/script.h"

#include <algorithm>
#include <array>
#include <set>

#include "tests/years/chance.h"

namespace torchwatch::years {
namespace {

/// The events of the newest hundred days.
constexpr std::array newest_events{Event{2, Plot::bisected_again},
                                   Event{6, Plot::paused},
                                   Event{11, Plot::two_culprits},
                                   Event{19, Plot::range},
                                   Event{27, Plot::not_reproduced},
                                   Event{30, Plot::improvement},
                                   Event{34, Plot::environment},
                                   Event{41, Plot::accepted, Metric::gmem},
                                   Event{47, Plot::undecided},
                                   Event{57, Plot::culprit},
                                   Event{64, Plot::failed, Metric::leak},
                                   Event{73, Plot::layout},
                                   Event{81, Plot::cancelled, Metric::cmem},
                                   Event{90, Plot::improvement}};

/// The events of older days, one of which is drawn at a time.
constexpr std::array usual_plots{Plot::culprit,
                                 Plot::culprit,
                                 Plot::culprit,
                                 Plot::culprit,
                                 Plot::two_culprits,
                                 Plot::accepted,
                                 Plot::range,
                                 Plot::environment,
                                 Plot::undecided,
                                 Plot::layout,
                                 Plot::not_reproduced,
                                 Plot::improvement,
                                 Plot::improvement};

constexpr std::array<DaysAgo, 5> missing_days{17, 50, 51, 52, 53};
constexpr DaysAgo cut_off_day = 67;
constexpr DaysAgo crashing_day = 24;

/// The newest days, whose fates are not random.
constexpr DaysAgo scripted_days = 100;

NightlyFate fate_by_chance(Chance& chance) {
  if (chance.happens(0.02)) return NightlyFate::missing;
  if (chance.happens(0.015))
    return chance.happens(0.5) ? NightlyFate::cut_off : NightlyFate::crashes;
  return NightlyFate::measured;
}

NightlyFate fate_as_scripted(DaysAgo ago) {
  if (std::ranges::count(missing_days, ago) > 0) return NightlyFate::missing;
  if (ago == cut_off_day) return NightlyFate::cut_off;
  return ago == crashing_day ? NightlyFate::crashes : NightlyFate::measured;
}

Metric drawn_metric(Chance& chance) {
  if (chance.happens(0.7)) return Metric::latency;
  return chance.pick(std::array{Metric::cmem, Metric::gmem, Metric::leak});
}

}  // namespace

Script::Script(Request const& request) {
  draw_fates(request);
  draw_events(request);
}

void Script::draw_fates(Request const& request) {
  Chance chance{request.seed, "nightlies"};
  for (DaysAgo ago = 0; ago < request.nights; ++ago)
    fates_.push_back(ago < scripted_days ? fate_as_scripted(ago) : fate_by_chance(chance));
  fates_.back() = NightlyFate::measured;
}

void Script::draw_events(Request const& request) {
  for (auto const& event : newest_events)
    place(event);
  Chance chance{request.seed, "events"};
  for (auto ago = scripted_days;; ago += chance.from_to(12, 35))
    if (!place({ago, chance.pick(usual_plots), drawn_metric(chance)})) break;
  std::ranges::reverse(events_);
}

/// Adds the event to the next older measured nightly. Returns false if there is none.
bool Script::place(Event event) {
  while (event.ago + 2 < fates_.size() && fates_[event.ago] != NightlyFate::measured)
    ++event.ago;
  if (event.ago + 2 >= fates_.size()) return false;
  events_.push_back(event);
  return true;
}

}  // namespace torchwatch::years
