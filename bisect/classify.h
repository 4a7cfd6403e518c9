#pragma once

#include <optional>
#include <span>

#include "bisect/compare.h"
#include "config/options.h"
#include "storage/domain/benchmark.h"
#include "storage/domain/bisection.h"

namespace torchwatch::bisect {

/// One process of each of three builds, measured next to each other on one host; values in the
/// metric's unit.
struct Round {
  double start = 0;
  double candidate = 0;
  double end = 0;
};

/// What is known of the variance of one process's log level: sum_squares / degrees. Empty: nothing.
struct Noise {
  double sum_squares = 0;
  double degrees = 0;
};

/// Independent knowledge, pooled.
Noise operator+(Noise const& left, Noise const& right);

/// The noise left when levels of builds and drift of the host are taken out. Empty for fewer than
/// two, and when a value has no logarithm.
Noise noise_of(std::span<Pair const> pairs);
Noise noise_of(std::span<Round const> rounds);

/// Decides whether a commit behaves like the start (good) or like the end (bad) of a search, from
/// all rounds measured so far and the noise known from elsewhere (not from these rounds). Nothing:
/// measure another round, then ask again. From `options.max_pairs` rounds on there is always an
/// answer: skip, if it could not be told. Pure.
///
/// Weighs "candidate and start are one level" against "candidate and end are one level" by the
/// likelihood ratio under unknown noise, and decides when the odds are 1 - step_error to
/// step_error. Takes at least two rounds. The prior counts for at most twenty degrees of freedom,
/// so that one process gone astray cannot decide. A deterministic metric takes one round: the
/// nearer end decides, and halfway between is skip.
std::optional<StepVerdict> classify(std::span<Round const> rounds,
                                    Noise const& prior,
                                    Metric metric,
                                    config::DecideOptions const& options);

}  // namespace torchwatch::bisect
