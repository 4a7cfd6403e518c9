#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "storage/domain/night.h"

/// How much nights differ by themselves, for whoever asks whether verdicts can be trusted. No
/// verdict comes of it. Pure.
namespace torchwatch::bisect {

/// Of one series, relative to its level; 0.01 is 1%.
struct NightNoise {
  double level = 0;    ///< median of its nights'
  double between = 0;  ///< spread of the nights' levels
  double within = 0;   ///< range of a night's processes, in the median of nights
};

/// Half of the nights may be anything, so a change among them is no noise. Nothing of a series
/// whose level is not above zero, and of fewer than two nights.
std::optional<NightNoise> noise_of(std::span<NightOfSeries const> nights);

/// How a host measures beside all that measured the same series.
struct HostPace {
  double ratio = 1;        ///< of its levels to the series' medians: the median over the series
  double low = 1;          ///< what all but one in ten of the series are above ...
  double high = 1;         ///< ... and all but one in ten below
  std::size_t series = 0;  ///< that it measured
  std::size_t nights = 0;  ///< of them, in all
};

/// By the hosts' numbers. Series with one night, and nights without a level above zero, tell
/// nothing.
std::map<std::int64_t, HostPace> paces_of(std::span<SeriesNights const> series);

}  // namespace torchwatch::bisect
