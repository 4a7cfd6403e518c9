#include "claims.h"

#include <algorithm>

#include <boost/math/distributions/binomial.hpp>
#include <fmt/format.h>

namespace torchwatch::bench {

bool print_claims(std::vector<Claim> const& claims) {
  fmt::print("\n{:<56} {:>9}    {:>9}\n", "claim", "seen", "bound");
  for (auto const& claim : claims)
    fmt::print("{:<56} {:>9.4f} {} {:>9.4f}{}\n",
               claim.text,
               claim.seen,
               claim.at_least ? ">=" : "<=",
               claim.bound,
               claim.holds() ? "" : "  BROKEN");
  return std::ranges::all_of(claims, &Claim::holds);
}

double with_slack(double rate, int trials) {
  constexpr double chance = 0.00135;
  boost::math::binomial const events(trials, rate);
  return boost::math::quantile(boost::math::complement(events, chance)) / trials;
}

}  // namespace torchwatch::bench
