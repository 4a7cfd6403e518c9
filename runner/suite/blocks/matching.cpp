#include "runner/suite/blocks/matching.h"

#include <algorithm>
#include <tuple>

namespace torchwatch::suite {

using torch::Tensor;

namespace {

Tensor draw(Tensor const& indices, std::int64_t count) {
  auto const order = torch::randperm(indices.size(0), indices.options());
  return indices.index_select(0, order.slice(0, 0, count));
}

}  // namespace

Matching match(Tensor const& overlaps, double low, double high, bool keep_best) {
  auto const [best, truth] = overlaps.max(0);
  auto const between = (best >= low) & (best < high);
  auto label = (best >= high).to(torch::kLong) - between.to(torch::kLong);
  if (keep_best) label.masked_fill_((overlaps == overlaps.amax(1, true)).any(0), 1);
  return {truth, label};
}

Sample draw_sample(Tensor const& labels, std::int64_t count, double share) {
  auto const positive = (labels > 0).nonzero().squeeze(1);
  auto const negative = (labels == 0).nonzero().squeeze(1);
  auto const wanted = static_cast<std::int64_t>(static_cast<double>(count) * share);
  auto const positives = std::min(wanted, positive.size(0));
  return {draw(positive, positives), draw(negative, count - positives)};
}

}  // namespace torchwatch::suite
