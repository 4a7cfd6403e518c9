#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>

#include "storage/domain/night.h"
#include "storage/domain/trust_figures.h"

/// How much nights differ by themselves, for whoever asks whether verdicts can be trusted. No
/// verdict comes of it. Pure.
namespace torchwatch::bisect {

/// Half of the nights may be anything, so a change among them is no noise. Nothing of a series
/// whose level is not above zero, and of fewer than two nights.
std::optional<NightNoise> noise_of(std::span<NightOfSeries const> nights);

/// By the hosts' numbers. Series with one night, and nights without a level above zero, tell
/// nothing.
std::map<std::int64_t, HostPace> paces_of(std::span<SeriesNights const> series);

}  // namespace torchwatch::bisect
