#pragma once

#include <optional>
#include <vector>

#include <boost/asio/awaitable.hpp>

#include "config/options.h"
#include "daemon/builds/builder.h"
#include "daemon/measure/rounds.h"
#include "storage/store.h"

namespace torchwatch::bisection {

/// Looks at what the nightlies at the ends of a bisection were delivered as, where that is not what
/// the bisection built of their commits: no commit is to blame for a compiler or a packed library.
/// Single-threaded.
class PackageCheck {
 public:
  /// All arguments must outlive it.
  PackageCheck(storage::Store& store, measure::Rounds& rounds, config::DecideOptions const& options)
      : store_{store},
        rounds_{rounds},
        options_{options} {}

  /// Notes in `Bisection::packages` what the delivered builds differ by. When the bisection found
  /// nothing, compares them once more; if they do differ, though not by one recipe, the outcome is
  /// `environment`. `ends`: the bisection's own builds of its start and end. Errors as
  /// Rounds::measure's.
  boost::asio::awaitable<Result<>> look(Bisection& bisection,
                                        std::vector<builds::BuildAttempt> const& ends);

 private:
  std::optional<Build> delivered(Bisection const& bisection, CommitSha const& commit) const;
  Recipe recipe_of(Build const& build) const;
  boost::asio::awaitable<Result<std::vector<SeriesChange>>> compare(Bisection const& bisection,
                                                                    Build before,
                                                                    Build after);

  storage::Store& store_;
  measure::Rounds& rounds_;
  config::DecideOptions const& options_;
};

}  // namespace torchwatch::bisection
