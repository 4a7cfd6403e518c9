#include "commits.h"

#include <cmath>
#include <random>

#include <fmt/format.h>

namespace torchwatch::bench {

namespace {

double pace_of(std::uint64_t seed, std::uint64_t round, double deviation) {
  if (deviation == 0) return 0;
  std::seed_seq seeds{seed, round};
  std::minstd_rand generator{seeds};
  return std::normal_distribution<double>{0, deviation}(generator);
}

}  // namespace

std::string Day::name() const {
  std::string steps;
  for (double const ratio : ratios)
    steps += fmt::format("{}{:+.0f}%", steps.empty() ? "" : ", ", 100 * (ratio - 1));
  return fmt::format("{} commits, {}, noise {:.0f}%{}",
                     commits,
                     steps.empty() ? "no change" : steps,
                     100 * noise,
                     strays > 0 ? fmt::format(", {:.0f}% astray", 100 * strays) : "") +
         (drift > 0 ? fmt::format(", pace {:.0f}%", 100 * drift) : "");
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

double Commits::run(std::size_t series, std::size_t position, std::size_t round) {
  auto const count = counts_[{series, position}]++;
  builds_.insert(position);
  ++runs_;
  std::seed_seq seeds{seed_, std::uint64_t{series}, std::uint64_t{position}, count};
  std::minstd_rand generator{seeds};
  std::normal_distribution<double> normal{0, day_.noise};
  double const value =
      truth(series, position) * std::exp(normal(generator) + pace_of(seed_, round, day_.drift));
  if (!std::bernoulli_distribution{day_.strays}(generator)) return value;
  return value * std::uniform_real_distribution<double>{1.1, 1.8}(generator);
}

}  // namespace torchwatch::bench
