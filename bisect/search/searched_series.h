#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bisect/search/scale.h"
#include "bisect/search/search_state.h"
#include "storage/domain/bisection.h"

namespace torchwatch::bisect {

/// First and last suspect.
using Span = std::pair<std::size_t, std::size_t>;

/// A series of a search: the findings about its change, and the rest that proofs leave. Suspects
/// are numbered from 0; sizes are differences of levels.
struct SearchedSeries {
  Series series;
  std::size_t benchmark = 0;
  Scale scale;
  std::optional<double> total = {};  ///< change between the ends, by the first answer
  std::vector<std::pair<std::size_t, double>> explained = {};  ///< suspects and their proven sizes
  bool is_layout = false;     ///< its change belongs to one build, not to a commit
  bool is_gradual = false;    ///< a gradual change was found
  bool is_confirmed = false;  ///< both ends were read in another layout
  std::size_t failures = 0;   ///< measurements without a usable value
  double least = 0;           ///< least sum of the explained sizes, by the proofs' intervals
  double most = 0;            ///< largest sum of the explained sizes, by the proofs' intervals

  /// Stores the change between the ends if `answer` is the first answer.
  void note_total(Answer const& answer);

  /// Returns an effect for each change of an answer.
  std::vector<std::pair<Span, Effect>> effects_of(Answer const& answer) const;

  /// Adds the proven change of a suspect, and sets its share of the total so far.
  void explain(std::size_t suspect, Effect& effect);

  /// Sets the final share of a proven effect. The whole is the sum of all proven changes and of the
  /// changes in `answer`.
  void set_share(Effect& effect, Answer const& answer) const;

  /// The share of the whole that the proofs leave, as text: an interval from the proofs' own.
  std::string rest() const;

  double size_of(Effect const& effect) const;
};

}  // namespace torchwatch::bisect
