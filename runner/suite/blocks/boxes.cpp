#include "runner/suite/blocks/boxes.h"

#include <tuple>

namespace torchwatch::suite {

using torch::Tensor;
using torch::indexing::None;
using torch::indexing::Slice;

namespace {

/// Both [count, 2].
struct Corners {
  explicit Corners(Tensor const& boxes)
      : lower(boxes.index({Slice(), Slice(0, 2)})),
        upper(boxes.index({Slice(), Slice(2, 4)})) {}

  Tensor sides() const { return upper - lower; }

  Tensor centres() const { return (lower + upper) / 2; }

  Tensor areas() const { return sides().prod(1); }

  Tensor lower, upper;
};

}  // namespace

Tensor intersection_over_union(Tensor const& a, Tensor const& b) {
  Corners const first(a);
  Corners const second(b);
  auto const lower = torch::maximum(first.lower.index({Slice(), None}), second.lower);
  auto const upper = torch::minimum(first.upper.index({Slice(), None}), second.upper);
  auto const shared = (upper - lower).clamp_min(0).prod(2);
  return shared / (first.areas().unsqueeze(1) + second.areas() - shared);
}

Tensor encode_boxes(Tensor const& boxes, Tensor const& anchors) {
  Corners const box(boxes);
  Corners const anchor(anchors);
  auto const sides = anchor.sides();
  return torch::cat({(box.centres() - anchor.centres()) / sides, (box.sides() / sides).log()}, 1);
}

Tensor decode_boxes(Tensor const& codes, Tensor const& anchors) {
  Corners const code(codes);
  Corners const anchor(anchors);
  auto const centres = code.lower * anchor.sides() + anchor.centres();
  auto const halves = code.upper.exp() * anchor.sides() / 2;
  return torch::cat({centres - halves, centres + halves}, 1);
}

Tensor suppress_overlaps(Tensor const& boxes, Tensor const& scores, double limit) {
  auto const order = std::get<1>(scores.sort(/*stable=*/true, 0, /*descending=*/true));
  auto const sorted = boxes.index_select(0, order);
  // [i, j] is 1 where i overlaps the better j
  auto const overlaps =
      (intersection_over_union(sorted, sorted) > limit).to(sorted.scalar_type()).tril(-1);
  // A box is kept unless a better kept one overlaps it. Each round settles all boxes whose better
  // neighbours were settled before, so the rounds end with what one walk through the list gives.
  auto kept = torch::ones_like(scores, sorted.options());
  while (true) {
    auto const next = (torch::mv(overlaps, kept) == 0).to(kept.scalar_type());
    if (torch::equal(next, kept)) break;
    kept = next;
  }
  return order.masked_select(kept > 0);
}

Tensor suppress_overlaps(Tensor const& boxes,
                         Tensor const& scores,
                         Tensor const& classes,
                         double limit) {
  // No boxes of two classes meet when each class has a place of its own
  auto const distance = boxes.max() + 1;
  auto const places = (classes.to(boxes.scalar_type()) * distance).unsqueeze(1);
  return suppress_overlaps(boxes + places, scores, limit);
}

}  // namespace torchwatch::suite
