#include "runner/suite/blocks/matching.h"

#include <algorithm>
#include <tuple>

#include "runner/suite/blocks/boxes.h"

namespace torchwatch::suite {

using torch::Tensor;

namespace {

Tensor draw(Tensor const& indices, std::int64_t count) {
  auto const order = torch::randperm(indices.size(0), indices.options());
  return indices.index({order.slice(0, 0, count)});
}

}  // namespace

Matching match(Tensor const& overlaps, double low, double high, bool keep_best) {
  auto const [best, truth] = overlaps.max(0);
  auto label = truth.new_ones(truth.sizes());
  label.index_put_({best < low}, 0);
  label.index_put_({(best >= low) & (best < high)}, -1);
  if (keep_best) {
    auto const highest = std::get<0>(overlaps.max(1, /*keepdim=*/true));
    label.index_put_({(overlaps == highest).nonzero_numpy().back()}, 1);
  }
  return {truth, label};
}

Sample draw_sample(Tensor const& labels, std::int64_t count, double share) {
  auto const positive = find(labels > 0);
  auto const negative = find(labels == 0);
  auto const wanted = static_cast<std::int64_t>(static_cast<double>(count) * share);
  auto const positives = std::min(wanted, positive.size(0));
  return {draw(positive, positives), draw(negative, count - positives)};
}

}  // namespace torchwatch::suite
