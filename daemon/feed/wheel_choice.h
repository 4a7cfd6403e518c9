#pragma once

#include <vector>

#include "fetch/offers.h"
#include "storage/domain/build.h"

/// Which of a version's wheels is its nightly. They are uploaded one Python after the other, over
/// hours, so the best that is there now may not be the best in the end. Pure; `offers` are as
/// fetch::offers_in's.
namespace torchwatch::feed {

/// The interpreter to follow: of those that most versions of the newest week have, the one that is
/// worth most. The newest version itself does not count, unless it is the only one: it may be in
/// the middle of being uploaded. `offers` may not be empty.
Interpreter interpreter_to_follow(std::vector<fetch::Offer> const& offers);

/// Whether a version of the newest week has a wheel for `interpreter`.
bool is_offered(Interpreter const& interpreter, std::vector<fetch::Offer> const& offers);

/// One offer a version, oldest first.
struct WheelChoice {
  std::vector<fetch::Offer> followed;  ///< for the interpreter that is followed
  std::vector<fetch::Offer> others;    ///< the best of the versions that have none for it
};

WheelChoice choose_wheels(std::vector<fetch::Offer> const& offers, Interpreter const& followed);

}  // namespace torchwatch::feed
