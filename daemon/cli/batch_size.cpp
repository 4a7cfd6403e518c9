#include "daemon/cli/batch_size.h"

#include <algorithm>

namespace torchwatch::cli {
namespace {

/// A doubling counts when throughput grows by 5%. Two that do not count end the search: one can be
/// an outlier.
constexpr double least_gain = 1.05;
constexpr int most_in_vain = 2;
constexpr std::int64_t largest_batch = std::int64_t{1} << 20;

}  // namespace

std::optional<std::int64_t> BatchSearch::next() const {
  if (over_) return std::nullopt;
  return trials_.empty() ? 1 : 2 * trials_.back().batch;
}

void BatchSearch::add_latency(double ms) {
  auto const batch = next().value();
  double const per_second = static_cast<double>(batch) * 1000 / ms;
  auto const before = best();
  bool const gained = !before || per_second > least_gain * before->per_second;
  trials_.push_back({batch, per_second});
  in_vain_ = gained ? 0 : in_vain_ + 1;
  over_ = in_vain_ == most_in_vain || batch >= largest_batch;
}

void BatchSearch::add_failure() {
  trials_.push_back({next().value(), 0});
  over_ = true;
}

std::optional<BatchSearch::Trial> BatchSearch::best() const {
  auto const fastest = std::ranges::max_element(trials_, {}, &Trial::per_second);
  if (fastest == trials_.end() || fastest->per_second == 0) return std::nullopt;
  return *fastest;
}

}  // namespace torchwatch::cli
