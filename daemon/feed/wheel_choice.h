#pragma once

#include <vector>

#include "fetch/offers.h"
#include "storage/domain/build.h"

/// The choice of a nightly among the wheels of a version. They are uploaded one Python after the
/// other, over hours, so the best wheel may still be missing. Pure; `offers` are those of
/// fetch::offers_in.
namespace torchwatch::feed {

/// Returns the interpreter to follow: the best of those that most versions of the newest week have.
/// The newest version itself does not count, unless it is the only one: its upload may be
/// incomplete. `offers` must not be empty.
Interpreter interpreter_to_follow(std::vector<fetch::Offer> const& offers);

/// True when a version of the newest week has a wheel for `interpreter`.
bool is_offered(Interpreter const& interpreter, std::vector<fetch::Offer> const& offers);

/// One offer per version, oldest first.
struct WheelChoice {
  std::vector<fetch::Offer> followed;  ///< for the followed interpreter
  std::vector<fetch::Offer> others;    ///< the best of the versions that have none for it
};

WheelChoice choose_wheels(std::vector<fetch::Offer> const& offers, Interpreter const& followed);

}  // namespace torchwatch::feed
