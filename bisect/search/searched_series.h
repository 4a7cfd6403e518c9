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

/// A series of a search: what was found of its change, and what proofs leave of it. Suspects are
/// numbered from 0, sizes are differences of levels.
struct SearchedSeries {
  Series series;
  std::size_t benchmark = 0;
  Scale scale;
  std::optional<double> total = {};  ///< change between the ends, by the first answer
  std::vector<std::pair<std::size_t, double>> explained = {};  ///< suspects and their proven sizes
  bool is_layout = false;     ///< what was found of it was one build's
  bool is_gradual = false;    ///< many suspects were found to have moved it, each a little
  bool is_confirmed = false;  ///< both ends were read in another layout
  std::size_t failures = 0;   ///< values that say nothing
  double least = 0;           ///< of what they explain, by the intervals of their proofs ...
  double most = 0;            ///< ... together

  /// Keeps the change between the ends as the first answer says.
  void note_total(Answer const& answer);

  /// What an answer says, change by change.
  std::vector<std::pair<Span, Effect>> effects_of(Answer const& answer) const;

  /// Notes what a suspect is proved to have done, and its share of the whole as it is known now.
  void explain(std::size_t suspect, Effect& effect);

  /// Sets the share anew of an effect that was proved, of the whole as it turned out: what the
  /// proofs explain, and what `answer` says is left.
  void set_share(Effect& effect, Answer const& answer) const;

  /// In words, how much of the whole the proofs leave, by their own intervals.
  std::string rest() const;

  double size_of(Effect const& effect) const;
};

}  // namespace torchwatch::bisect
