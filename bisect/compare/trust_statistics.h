#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>

#include "storage/domain/night.h"
#include "storage/domain/trust_figures.h"

/// Statistics of the noise between nights, for the Trust page. Verdicts do not use them. Pure.
namespace torchwatch::bisect {

/// Returns the noise of a series. Robust against almost half of the nights, so a change of level
/// does not count as noise. Returns nothing for a level that is not above zero, and for fewer than
/// two nights.
std::optional<NightNoise> noise_of(std::span<NightOfSeries const> nights);

/// Returns the pace of each host, by the host's number. Ignores series with one night, and nights
/// without a level above zero.
std::map<std::int64_t, HostPace> paces_of(std::span<SeriesNights const> series);

}  // namespace torchwatch::bisect
