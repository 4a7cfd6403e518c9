#include "bisect/classify.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

namespace torchwatch::bisect {
namespace {

/// With the two degrees of two rounds and one for the contrast, a single stray process of any size
/// can reach odds of (7/4)^(23/2), or 624 to 1: short of the 999 that a step_error of 0.001 asks
/// for.
constexpr double most_prior_degrees = 20;

Noise tempered(Noise const& prior) {
  double const weight = std::min(1.0, most_prior_degrees / std::max(1.0, prior.degrees));
  return {prior.sum_squares * weight, prior.degrees * weight};
}

Noise known(Noise const& noise) {
  return std::isfinite(noise.sum_squares) ? noise : Noise{};
}

Round log_of(Round const& round) {
  return {std::log(round.start), std::log(round.candidate), std::log(round.end)};
}

double center_of(Round const& round) {
  return (round.start + round.candidate + round.end) / 3;
}

/// Mean log levels.
Round levels_of(std::span<Round const> rounds) {
  auto const add = [](Round const& left, Round const& right) -> Round {
    return {left.start + right.start, left.candidate + right.candidate, left.end + right.end};
  };
  auto const sum = std::transform_reduce(rounds.begin(), rounds.end(), Round{}, add, log_of);
  auto const count = static_cast<double>(rounds.size());
  return {sum.start / count, sum.candidate / count, sum.end / count};
}

double squared(double value) {
  return value * value;
}

/// Natural logarithm of the odds that the candidate is at the start's level and not at the end's.
double log_odds(std::span<Round const> rounds, Noise const& prior) {
  auto const noise = tempered(prior) + noise_of(rounds);
  auto const level = levels_of(rounds);
  double const weight = static_cast<double>(rounds.size()) / 2;
  double const if_good = noise.sum_squares + weight * squared(level.candidate - level.start);
  double const if_bad = noise.sum_squares + weight * squared(level.end - level.candidate);
  return (noise.degrees + 1) / 2 * (std::log(if_bad) - std::log(if_good));
}

StepVerdict nearer_end(std::span<Round const> rounds) {
  double to_start = 0;
  double to_end = 0;
  for (auto const& round : rounds) {
    to_start += round.candidate - round.start;
    to_end += round.end - round.candidate;
  }
  if (std::abs(to_start) < std::abs(to_end)) return StepVerdict::good;
  if (std::abs(to_start) > std::abs(to_end)) return StepVerdict::bad;
  return StepVerdict::skip;
}

}  // namespace

Noise operator+(Noise const& left, Noise const& right) {
  return {left.sum_squares + right.sum_squares, left.degrees + right.degrees};
}

Noise noise_of(std::span<Pair const> pairs) {
  if (pairs.size() < 2) return {};
  auto const change = [](Pair const& pair) {
    return std::log(pair.after) - std::log(pair.before);
  };
  auto const count = static_cast<double>(pairs.size());
  double const mean =
      std::transform_reduce(pairs.begin(), pairs.end(), 0.0, std::plus<>{}, change) / count;
  double sum = 0;
  for (auto const& pair : pairs) {
    sum += squared(change(pair) - mean);
  }
  // A log ratio holds the noise of two processes.
  return known({sum / 2, count - 1});
}

Noise noise_of(std::span<Round const> rounds) {
  if (rounds.size() < 2) return {};
  auto const level = levels_of(rounds);
  double sum = 0;
  for (auto const& round : rounds) {
    auto const seen = log_of(round);
    double const drift = center_of(seen) - center_of(level);
    sum += squared(seen.start - level.start - drift) +
           squared(seen.candidate - level.candidate - drift) +
           squared(seen.end - level.end - drift);
  }
  return known({sum, 2 * (static_cast<double>(rounds.size()) - 1)});
}

std::optional<StepVerdict> classify(std::span<Round const> rounds,
                                    Noise const& prior,
                                    Metric metric,
                                    config::DecideOptions const& options) {
  if (rounds.empty()) return std::nullopt;
  if (is_deterministic(metric)) return nearer_end(rounds);

  if (rounds.size() >= 2) {
    double const odds = log_odds(rounds, prior);
    double const enough = std::log((1 - options.step_error) / options.step_error);
    if (odds >= enough) return StepVerdict::good;
    if (odds <= -enough) return StepVerdict::bad;
  }
  if (std::ssize(rounds) >= options.max_pairs) return StepVerdict::skip;
  return std::nullopt;
}

}  // namespace torchwatch::bisect
