#include "bisect/compare/segmentation.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace torchwatch::bisect {
namespace {

/// square * x^2 + linear * x + constant, a cost as a function of the last stretch's level x.
struct Quadratic {
  double square = 0;
  double linear = 0;
  double constant = 0;

  double at(double x) const { return (square * x + linear) * x + constant; }
};

/// The least cost so far, for levels from `from` to the beginning of the next piece.
struct Piece {
  double from = 0;
  Quadratic cost;
  std::size_t start = 0;  ///< first index of the last stretch
};

struct Best {
  double cost = std::numeric_limits<double>::infinity();
  std::size_t start = 0;
};

/// The least cost of the values so far, for each level that the last stretch may have.
class CostOfLevels {
 public:
  CostOfLevels(double lowest, double highest) : highest_{highest}, pieces_{Piece{lowest, {}, 0}} {}

  Best best() const {
    Best found;
    for (std::size_t i = 0; i < pieces_.size(); ++i) {
      auto const& [from, cost, start] = pieces_[i];
      double const lowest =
          cost.square > 0 ? std::clamp(-cost.linear / (2 * cost.square), from, end_of(i)) : from;
      double const least = cost.at(lowest);
      if (least < found.cost) found = {least, start};
    }
    return found;
  }

  /// Allows a new stretch that begins at `start`, for `cost` in total.
  void offer(double cost, std::size_t start) {
    next_.clear();
    for (std::size_t i = 0; i < pieces_.size(); ++i)
      keep_below(pieces_[i], end_of(i), cost, start);
    pieces_.swap(next_);
  }

  /// Adds the cost of one value.
  void add(double value, double outlier) {
    next_.clear();
    for (std::size_t i = 0; i < pieces_.size(); ++i) {
      double const to = end_of(i);
      auto piece = pieces_[i];
      for (double const edge : {value - outlier, value + outlier}) {
        if (edge <= piece.from || edge >= to) continue;
        next_.push_back(with(piece, value, outlier));
        piece.from = edge;
      }
      next_.push_back(with(piece, value, outlier));
    }
    pieces_.swap(next_);
  }

 private:
  double end_of(std::size_t i) const {
    return i + 1 < pieces_.size() ? pieces_[i + 1].from : highest_;
  }

  /// The piece with the cost of a value. The piece must not extend over an edge of the value.
  static Piece with(Piece piece, double value, double outlier) {
    if (piece.from >= value + outlier || piece.from < value - outlier) {
      piece.cost.constant += outlier * outlier;
    } else {
      piece.cost.square += 1;
      piece.cost.linear -= 2 * value;
      piece.cost.constant += value * value;
    }
    return piece;
  }

  /// Keeps the parts of `piece` that cost less than `limit`. The rest becomes a new stretch.
  void keep_below(Piece const& piece, double to, double limit, std::size_t start) {
    auto const& cost = piece.cost;
    double low = piece.from;
    double high = to;
    if (cost.square > 0) {
      double const middle = -cost.linear / (2 * cost.square);
      double const room = (limit - cost.at(middle)) / cost.square;
      double const reach = room > 0 ? std::sqrt(room) : -1;
      low = std::clamp(middle - reach, piece.from, to);
      high = std::clamp(middle + reach, piece.from, to);
    } else if (cost.constant >= limit) {
      high = low;
    }
    if (!(high > low)) {
      begin_stretch(piece.from, limit, start);
      return;
    }
    if (low > piece.from) begin_stretch(piece.from, limit, start);
    next_.push_back({low, cost, piece.start});
    if (high < to) begin_stretch(high, limit, start);
  }

  void begin_stretch(double from, double cost, std::size_t start) {
    if (!next_.empty() && next_.back().start == start) return;
    next_.push_back({from, {0, 0, cost}, start});
  }

  double highest_;
  std::vector<Piece> pieces_;
  std::vector<Piece> next_;
};

/// The values with every gap between them, in order of size, reduced to `widest`. So their squares
/// are small numbers for values at any distance.
std::vector<double> drawn_together(std::span<double const> values, double widest) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, {}, [&](std::size_t i) { return values[i]; });
  std::vector<double> drawn(values.size());
  for (std::size_t i = 1; i < order.size(); ++i) {
    double const gap = values[order[i]] - values[order[i - 1]];
    drawn[order[i]] = drawn[order[i - 1]] + std::min(widest, gap);
  }
  return drawn;
}

}  // namespace

std::vector<std::size_t> segmentation(std::span<double const> values,
                                      double penalty,
                                      double outlier) {
  if (values.empty()) return {};
  // No level is within reach of both sides of such a gap, so costs do not change.
  auto const drawn = drawn_together(values, 2 * outlier + 1);
  auto const [lowest, highest] = std::ranges::minmax(drawn);
  if (lowest == highest) return {};
  CostOfLevels costs{lowest, highest};
  std::vector<std::size_t> starts;  // first index of the last stretch in the best cut of [0, i]
  double least = 0;
  for (std::size_t i = 0; i < drawn.size(); ++i) {
    if (i > 0) costs.offer(least + penalty, i);
    costs.add(drawn[i], outlier);
    auto const best = costs.best();
    least = best.cost;
    starts.push_back(best.start);
  }
  std::vector<std::size_t> cuts;
  for (std::size_t start = starts.back(); start > 0; start = starts[start - 1])
    cuts.push_back(start);
  std::ranges::reverse(cuts);
  return cuts;
}

}  // namespace torchwatch::bisect
