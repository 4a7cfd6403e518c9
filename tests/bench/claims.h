#pragma once

#include <string>
#include <vector>

namespace torchwatch::bench {

/// What torchwatch promises, and what was seen.
struct Claim {
  std::string text;
  double seen = 0;
  double bound = 0;
  bool at_least = false;

  bool holds() const { return at_least ? seen >= bound : seen <= bound; }
};

/// Prints a table, and returns whether all hold.
bool print_claims(std::vector<Claim> const& claims);

/// How often an event of probability `rate` may be seen in `trials` and be no refutation: as a
/// share of them that more is seen of once in 740 times, as three standard deviations of a normal
/// variable are exceeded. Exact, since a rare event is not normal: of 1 in 10,000 up to 7 are seen
/// in 20,000.
double with_slack(double rate, int trials);

}  // namespace torchwatch::bench
