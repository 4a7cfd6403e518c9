#pragma once

#include <string>
#include <vector>

namespace torchwatch::bench {

/// A promise of torchwatch: a bound, and the observed value.
struct Claim {
  std::string text;
  double seen = 0;
  double bound = 0;
  bool at_least = false;

  bool holds() const { return at_least ? seen >= bound : seen <= bound; }
};

/// Prints a table of the claims. Returns true when all hold.
bool print_claims(std::vector<Claim> const& claims);

/// The largest share of `trials` with an event of probability `rate` that does not refute `rate`.
/// It is exceeded once in 740 times, like three standard deviations of a normal variable. Exact,
/// from the binomial distribution, because a rare event is not normal: for `rate` 1 in 10,000, up
/// to 7 events in 20,000.
double with_slack(double rate, int trials);

}  // namespace torchwatch::bench
