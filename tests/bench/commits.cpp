#include "commits.h"

#include <algorithm>
#include <cmath>
#include <random>

#include <fmt/format.h>

namespace torchwatch::bench {

namespace {

double pace_of(Day const& day, std::uint64_t seed, std::uint64_t round) {
  constexpr double rounds = 30;
  double const risen = day.rise * static_cast<double>(round) / rounds;
  if (day.drift == 0) return risen;
  std::seed_seq seeds{seed, round};
  std::minstd_rand generator{seeds};
  return risen + std::normal_distribution<double>{0, day.drift}(generator);
}

/// The logarithm that the layout of a build adds to its runs.
double level_of(std::uint64_t seed, std::size_t position, std::size_t layout, double deviation) {
  constexpr std::uint64_t builds = 0xb001d;  // separates these random numbers from others
  if (deviation == 0) return 0;
  std::seed_seq seeds{seed, builds, std::uint64_t{position}, std::uint64_t{layout}};
  std::mt19937 generator{seeds};
  return std::normal_distribution<double>{0, deviation}(generator);
}

double deviation_of(Day const& day, std::minstd_rand& generator) {
  constexpr double slow = 0.15;
  constexpr double within = 0.2;
  constexpr double most = 5;
  std::normal_distribution<double> normal;
  if (day.shape == Shape::normal) return day.noise * normal(generator);
  if (day.shape == Shape::cauchy)
    return std::clamp(
        std::cauchy_distribution<double>{0, 0.6745 * day.noise}(generator), -most, most);
  double const apart = std::sqrt((1 - within * within) / slow / (1 - slow));
  bool const is_slow = std::bernoulli_distribution{slow}(generator);
  return day.noise * (within * normal(generator) + (is_slow ? apart : 0));
}

std::string steps_of(Day const& day) {
  std::string steps;
  for (std::size_t i = 0; i < day.ratios.size();) {
    auto const ratio = day.ratios[i];
    std::size_t alike = 0;
    for (; i < day.ratios.size() && day.ratios[i] == ratio; ++i)
      ++alike;
    steps += fmt::format("{}{}{:+.0f}%",
                         steps.empty() ? "" : ", ",
                         alike > 1 ? fmt::format("{} of ", alike) : "",
                         100 * (ratio - 1));
  }
  return steps.empty() ? "no change" : steps;
}

}  // namespace

std::string Day::name() const {
  auto const percent = [](char const* text, double share) {
    return share > 0 ? fmt::format("{} {:.0f}%", text, 100 * share) : "";
  };
  char const* const shapes[] = {"", ", two modes", ", Cauchy"};
  return fmt::format("{} commits, {}, noise {:.0f}%", commits, steps_of(*this), 100 * noise) +
         shapes[static_cast<std::size_t>(shape)] + percent(", outliers", outliers) +
         percent(", pace", drift) + percent(", pace rises", rise) + percent(", builds", builds);
}

Commits::Commits(Day const& day, std::uint64_t seed) : day_{day}, seed_{seed} {
  std::mt19937_64 generator{seed};
  std::uniform_int_distribution<std::size_t> commit{0, day.commits - 1};
  std::set<std::size_t> taken;
  for (std::size_t i = 0; i < day.ratios.size(); ++i) {
    auto at = commit(generator);
    while (!taken.insert(at).second)
      at = commit(generator);
    steps_.push_back({i % day.series, at, day.ratios[i]});
  }
}

double Commits::truth(std::size_t series, std::size_t position) const {
  double value = 10;
  for (auto const& step : steps_)
    if (step.series == series && step.commit < position) value *= step.ratio;
  return value;
}

double Commits::run(std::size_t series,
                    std::size_t position,
                    std::size_t round,
                    std::size_t layout) {
  // Runs of the second layout have other random numbers than those of the first
  auto const count = (counts_[{series, position, layout}]++) + layout * 1'000'000;
  builds_.insert({position, layout});
  ++runs_;
  std::seed_seq seeds{seed_, std::uint64_t{series}, std::uint64_t{position}, count};
  std::minstd_rand generator{seeds};
  double const value = truth(series, position) *
                       std::exp(deviation_of(day_, generator) + pace_of(day_, seed_, round) +
                                level_of(seed_, position, layout, day_.builds));
  if (!std::bernoulli_distribution{day_.outliers}(generator)) return value;
  return value * std::uniform_real_distribution<double>{1.1, 1.8}(generator);
}

}  // namespace torchwatch::bench
