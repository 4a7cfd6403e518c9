#include "bisect/search/explanations.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>
#include <numeric>
#include <optional>

#include "bisect/search/shortlist.h"

namespace torchwatch::bisect {

namespace {

/// A model of how a host's pace changes from round to round, with its probability.
struct TriedDrift {
  Drift drift;
  double probability = 0;
};

constexpr std::array drifts{TriedDrift{{0}, 0.35},
                            TriedDrift{{0.5}, 0.15},
                            TriedDrift{{4}, 0.15},
                            TriedDrift{{50}, 0.15},
                            TriedDrift{{0.02, true}, 0.1},
                            TriedDrift{{0.5, true}, 0.1}};

/// A ratio of the variance of builds to that of a reading that is tried. It stands for standard
/// deviations, relative to that of a reading, from `least` to the `least` of the entry before.
/// Under the first entry explanations differ least.
struct Builds {
  double ratio = 0;
  double least = 0;
};

constexpr std::array builds_tried{
    Builds{36, 4.6}, Builds{12, 2.6}, Builds{4, 1.4}, Builds{1, 0.7}, Builds{0.2, 0.3}};

/// Degrees of freedom of deviations: the usual ones, those of a host with more outliers, and the
/// probability of such a host.
constexpr double usual_tails = 5;
constexpr double heavy_tails = 1;
constexpr double heavy = 0.15;

/// The prior of several changes is uniform from minus to plus this for each. The largest may exceed
/// it, with the tail of a single change.
constexpr double widest_change = 0.5;

constexpr double nothing = -std::numeric_limits<double>::infinity();

/// An explanation is dropped when the logarithm of its weight is this much below that of another.
constexpr double hopeless = 14;

/// A drift is dropped when the logarithm of its weight is this much below that of the best.
constexpr double unlikely = 7;

/// The most explanations of one kind that are fitted.
constexpr std::size_t most_fitted = 20;

/// The fewest gaps that a gradual change spans.
constexpr std::size_t fewest_gaps = 2;

/// Prior density of the sizes of several changes.
double density_of(std::span<double const> sizes, Expectation const& expectation) {
  constexpr double uniform = 1 / (2 * widest_change);
  double largest = 0;
  for (double const size : sizes)
    largest = std::max(largest, std::abs(size));
  double const growth = 1 + std::max(0.0, largest - expectation.least) / expectation.excess;
  double const tail = 1 / (expectation.excess * growth * growth * growth);
  return std::pow(uniform, static_cast<double>(sizes.size()) - 1) * std::min(uniform, tail);
}

bool has_builds(Expectation const& expectation) {
  return expectation.builds_differ > 0 || expectation.builds_measured > 0;
}

bool has_gradual(std::size_t gaps, Expectation const& expectation) {
  return gaps >= fewest_gaps && expectation.gradual > 0;
}

/// The explanations with no change or one.
std::vector<Explanation> list_simple(std::span<double const> shares,
                                     Expectation const& expectation) {
  std::vector<Explanation> all;
  all.push_back({{}, expectation.no_change, 0, {}});
  double const other = (shares.size() > 1 ? expectation.several : 0) +
                       (has_gradual(shares.size(), expectation) ? expectation.gradual : 0);
  for (std::size_t gap = 0; gap < shares.size(); ++gap)
    all.push_back({{{gap}}, (1 - expectation.no_change) * (1 - other) * shares[gap], 0, {}});
  return all;
}

/// Scales the priors of the explanations so that they sum to `prior`.
void scale(std::vector<Explanation>& all, double prior) {
  double total = 0;
  for (auto const& one : all)
    total += one.prior;
  for (auto& one : all)
    one.prior *= prior / total;
}

std::vector<Explanation> list_pairs(std::span<double const> shares,
                                    Expectation const& expectation) {
  std::vector<Explanation> all;
  for (std::size_t first = 0; first < shares.size(); ++first)
    for (auto second = first + 1; second < shares.size(); ++second)
      all.push_back({{{first}, {second}}, shares[first] * shares[second], 0, {}});
  scale(all, (1 - expectation.no_change) * expectation.several);
  return all;
}

/// The explanations with three changes. Three are as rare compared with two as two with one.
std::vector<Explanation> list_triples(std::span<double const> shares,
                                      Expectation const& expectation) {
  std::vector<Explanation> all;
  for (std::size_t first = 0; first < shares.size(); ++first)
    for (auto second = first + 1; second < shares.size(); ++second)
      for (auto third = second + 1; third < shares.size(); ++third)
        all.push_back(
            {{{first}, {second}, {third}}, shares[first] * shares[second] * shares[third], 0, {}});
  scale(all, (1 - expectation.no_change) * expectation.several * expectation.several);
  return all;
}

/// The gradual explanations, from any position to any that is not next to it. Their priors use the
/// weight of the gaps around both positions.
std::vector<Explanation> list_gradual(std::span<double const> shares,
                                      Expectation const& expectation) {
  std::vector<Explanation> all;
  if (!has_gradual(shares.size(), expectation)) return all;
  auto const around = [&](std::size_t position) {
    return (position > 0 ? shares[position - 1] : 0) +
           (position < shares.size() ? shares[position] : 0);
  };
  for (std::size_t first = 0; first < shares.size(); ++first)
    for (auto last = first + fewest_gaps - 1; last < shares.size(); ++last)
      all.push_back({{{first, last}}, around(first) * around(last + 1), 0, {}});
  scale(all, (1 - expectation.no_change) * expectation.gradual);
  return all;
}

double sum_of_weights(std::span<double const> logs, double largest) {
  double sum = 0;
  for (double const log : logs)
    sum += std::exp(log - largest);
  return sum;
}

/// Lists explanations, fits them, and computes their weights.
class Weighing {
 public:
  Weighing(Measured const& table,
           std::span<double const> shares,
           std::span<std::size_t const> known,
           Expectation const& expectation)
      : table_{table},
        shares_{shares},
        known_{known},
        expectation_{expectation} {}

  Explanations run();

 private:
  /// Logarithms of all explanations' weights under some ratios, and their fits.
  struct Under {
    Ratios ratios;
    double log_prior = 0;  ///< log prior of the ratios, except for builds
    std::vector<double> logs;
    std::vector<Fit> fits;

    double largest() const { return *std::ranges::max_element(logs); }

    std::size_t best() const {
      return static_cast<std::size_t>(std::ranges::max_element(logs) - logs.begin());
    }
  };

  std::vector<Rise> with_known(Explanation const& explanation) const;
  Fit fit(Explanation const& explanation, Fitter& fitter) const;
  double log_probability(Ratios const& ratios, double variance) const;
  double builds_below(double deviation) const;
  void add(std::vector<Explanation> explanations);
  Under weigh(Ratios const& ratios, double log_prior, std::size_t first = 0) const;
  void weigh_drifts();
  void glance();
  double rate(Explanation const& explanation) const;
  void shortlist(std::vector<Explanation> explanations);
  void drop_hopeless(Under& loosest);
  std::vector<Under> weigh_builds();
  Explanation const& best() const;
  double log_more(std::vector<Under> const& others, Under const& likeliest) const;
  std::vector<int> outliers_of(Under const& under) const;
  Explanations conclude(std::vector<Under> const& others);

  Measured const& table_;
  std::span<double const> shares_;
  std::span<std::size_t const> known_;
  Expectation const& expectation_;
  std::vector<Explanation> all_;
  Under usual_;                                   // with the likeliest drift, and 0 for builds
  std::vector<std::pair<Drift, double>> drifts_;  // other plausible drifts, with log_prior
  std::optional<Glance> glance_;
  double best_glance_ = 0;
};

/// Adds the explanations whose gaps hold no known change.
void Weighing::add(std::vector<Explanation> explanations) {
  std::ranges::copy_if(
      explanations, std::back_inserter(all_), [this](Explanation const& explanation) {
        return std::ranges::none_of(explanation.rises, [this](Rise const& rise) {
          return std::ranges::find(known_, rise.gap) != known_.end();
        });
      });
}

std::vector<Rise> Weighing::with_known(Explanation const& explanation) const {
  std::vector<Rise> rises;
  for (auto const gap : known_)
    rises.push_back({gap});
  rises.insert(rises.end(), explanation.rises.begin(), explanation.rises.end());
  return rises;
}

Fit Weighing::fit(Explanation const& explanation, Fitter& fitter) const {
  auto const rises = with_known(explanation);
  if (explanation.rises.size() == 1) return fitter.fit_change(rises);
  auto result = fitter.fit(rises);
  if (!explanation.rises.empty())
    result.log_evidence += std::log(density_of(
        std::span{result.parameters}.subspan(1 + known_.size(), explanation.rises.size()),
        expectation_));
  return result;
}

/// Prior probability that builds' levels have a smaller standard deviation.
double Weighing::builds_below(double deviation) const {
  constexpr double shape = 3;  // of Weibull: mostly from half to one and a half of the measured one
  double const assumed = expectation_.builds_differ * std::exp(-deviation / expectation_.builds);
  if (!(expectation_.builds_measured > 0)) return 1 - assumed;
  double const measured = std::exp(-std::pow(deviation / expectation_.builds_measured, shape));
  return 1 - std::max(measured, assumed);
}

/// Logarithm of the prior probability of the variance of builds in `ratios`.
double Weighing::log_probability(Ratios const& ratios, double variance) const {
  if (!has_builds(expectation_)) return 0;
  double const noise = std::sqrt(variance);
  double next = std::numeric_limits<double>::infinity();
  for (auto const& [ratio, least] : builds_tried) {
    if (ratio == ratios.builds) {
      double const above = std::isinf(next) ? 1 : builds_below(next * noise);
      return std::log(std::max(above - builds_below(least * noise), 1e-300));
    }
    next = least;
  }
  return std::log(std::max(builds_below(next * noise), 1e-300));
}

Weighing::Under Weighing::weigh(Ratios const& ratios, double log_prior, std::size_t first) const {
  Under under{ratios, log_prior, {}, {}};
  Fitter fitter{table_, ratios, expectation_};
  for (auto i = first; i < all_.size(); ++i) {
    under.fits.push_back(fit(all_[i], fitter));
    auto const& fit = under.fits.back();
    double const log = std::log(all_[i].prior) + log_prior + fit.log_evidence +
                       log_probability(ratios, fit.variance);
    under.logs.push_back(std::isnan(log) ? nothing : log);
  }
  return under;
}

Explanation const& Weighing::best() const {
  return all_[usual_.best()];
}

/// Weighs the explanations so far under each drift, and keeps the likeliest drift.
void Weighing::weigh_drifts() {
  std::vector<Under> under;
  for (auto const& [drift, probability] : drifts)
    if (drift == Drift{} || table_.is_paired())
      under.push_back(weigh({drift, 0, usual_tails},
                            std::log((1 - heavy) * (table_.is_paired() ? probability : 1))));
  auto const best = std::ranges::max_element(under, {}, &Under::largest);
  drifts_.clear();
  for (auto const& one : under)
    if (one.ratios.drift != best->ratios.drift && one.largest() > best->largest() - unlikely)
      drifts_.emplace_back(one.ratios.drift, one.log_prior);
  usual_ = std::move(*best);
}

/// Prepares a Glance that uses the weights of the best explanation so far.
void Weighing::glance() {
  Fitter fitter{table_, usual_.ratios, expectation_};
  fit(best(), fitter);
  glance_.emplace(
      fitter.summary(), table_.passed, static_cast<double>(table_.values.size()), expectation_);
  best_glance_ = nothing;
  for (auto const& explanation : all_)
    best_glance_ = std::max(best_glance_, rate(explanation));
}

double Weighing::rate(Explanation const& explanation) const {
  return (*glance_)(with_known(explanation)) + std::log(explanation.prior);
}

/// Adds the explanations that a Glance rates highest.
void Weighing::shortlist(std::vector<Explanation> explanations) {
  std::vector<std::pair<double, std::size_t>> rated;
  for (std::size_t i = 0; i < explanations.size(); ++i) {
    double const rating = rate(explanations[i]);
    if (rating > best_glance_ - hopeless) rated.emplace_back(rating, i);
    best_glance_ = std::max(best_glance_, rating);
  }
  std::ranges::sort(rated, std::ranges::greater{});
  rated.resize(std::min(rated.size(), most_fitted));
  std::vector<Explanation> good;
  for (auto const& [rating, i] : rated)
    good.push_back(std::move(explanations[i]));
  auto const first = all_.size();
  add(std::move(good));
  auto const under = weigh(usual_.ratios, usual_.log_prior, first);
  usual_.logs.insert(usual_.logs.end(), under.logs.begin(), under.logs.end());
  usual_.fits.insert(usual_.fits.end(), under.fits.begin(), under.fits.end());
}

/// Drops the explanations that are far behind in both extreme cases: where builds add nothing, so
/// that explanations differ most, and where they add most.
void Weighing::drop_hopeless(Under& loosest) {
  double const least = usual_.largest() - hopeless;
  double const least_loosely = loosest.largest() - hopeless;
  std::size_t kept = 0;
  for (std::size_t i = 0; i < all_.size(); ++i) {
    if (usual_.logs[i] < least && loosest.logs[i] < least_loosely) continue;
    std::swap(all_[kept], all_[i]);
    for (auto* const under : {&usual_, &loosest}) {
      under->logs[kept] = under->logs[i];
      under->fits[kept] = under->fits[i];
    }
    ++kept;
  }
  all_.resize(kept);
  for (auto* const under : {&usual_, &loosest}) {
    under->logs.resize(kept);
    under->fits.resize(kept);
  }
}

std::vector<Weighing::Under> Weighing::weigh_builds() {
  std::vector<Under> all;
  if (!has_builds(expectation_)) return all;
  for (auto const& [ratio, least] : builds_tried) {
    all.push_back(weigh({usual_.ratios.drift, ratio, usual_tails}, usual_.log_prior));
    if (all.size() == 1) drop_hopeless(all.front());
  }
  return all;
}

/// Logarithm of the weight under all variances of builds, relative to that under the likeliest.
double Weighing::log_more(std::vector<Under> const& others, Under const& likeliest) const {
  double const largest = likeliest.largest();
  double all = sum_of_weights(usual_.logs, largest);
  for (auto const& one : others)
    all += sum_of_weights(one.logs, largest);
  return std::log(all / sum_of_weights(likeliest.logs, largest));
}

std::vector<int> Weighing::outliers_of(Under const& under) const {
  Fitter fitter{table_, under.ratios, expectation_};
  return fitter.outliers(fit(all_[under.best()], fitter).variance);
}

Explanations Weighing::conclude(std::vector<Under> const& others) {
  auto const* likeliest = &usual_;
  for (auto const& one : others)
    if (one.largest() > likeliest->largest()) likeliest = &one;
  auto const [drift, spread, tails] = likeliest->ratios;
  auto const heavily =
      weigh({drift, spread, heavy_tails}, usual_.log_prior + std::log(heavy / (1 - heavy)));
  std::vector<Under> drifting;
  for (auto const& [other, log_prior] : drifts_)
    drifting.push_back(weigh({other, spread, tails}, log_prior));
  double const more = log_more(others, *likeliest);
  Explanations result{{}, likeliest->ratios, 0, 0, {}};
  auto shift = std::max(likeliest->largest(), heavily.largest() + more);
  for (auto const& one : drifting)
    shift = std::max(shift, one.largest() + more);
  double total = 0;
  for (std::size_t i = 0; i < all_.size(); ++i) {
    auto const add = [&](Under const& under, double log_factor) {
      double const weight = std::exp(under.logs[i] + log_factor - shift);
      all_[i].weight += weight;
      result.builds += weight * under.ratios.builds;
    };
    add(usual_, 0);
    for (auto const& one : others)
      add(one, 0);
    add(heavily, more);
    for (auto const& one : drifting)
      add(one, more);
    all_[i].fit = likeliest->fits[i];
    total += all_[i].weight;
  }
  for (auto& explanation : all_)
    explanation.weight /= total;
  result.builds /= total;
  result.noise = std::sqrt(likeliest->fits[likeliest->best()].variance);
  bool const is_heavy = heavily.largest() + more > likeliest->largest();
  result.outliers = outliers_of(is_heavy ? heavily : *likeliest);
  result.all = std::move(all_);
  return result;
}

Explanations Weighing::run() {
  add(list_simple(shares_, expectation_));
  weigh_drifts();
  glance();
  shortlist(list_pairs(shares_, expectation_));
  if (known_.empty()) shortlist(list_gradual(shares_, expectation_));
  // Three changes are tried when two, or a gradual one, explain more than one change.
  if (best().rises.size() > 1 || best().is_gradual())
    shortlist(list_triples(shares_, expectation_));
  weigh_drifts();  // with the new explanations another drift may be likelier
  return conclude(weigh_builds());
}

}  // namespace

std::vector<Explanation> expect(std::span<double const> shares, Expectation const& expectation) {
  auto all = list_simple(shares, expectation);
  for (auto&& more : {list_pairs(shares, expectation), list_gradual(shares, expectation)})
    all.insert(all.end(), more.begin(), more.end());
  for (auto& explanation : all)
    explanation.weight = explanation.prior;
  return all;
}

Explanations explain(Measured const& table,
                     std::span<double const> shares,
                     std::span<std::size_t const> known,
                     Expectation const& expectation) {
  return Weighing{table, shares, known, expectation}.run();
}

}  // namespace torchwatch::bisect
