#pragma once

#include <optional>
#include <vector>

#include <boost/asio/awaitable.hpp>

#include "config/options.h"
#include "daemon/builds/builder.h"
#include "daemon/measure/rounds.h"
#include "storage/store.h"

namespace torchwatch::bisection {

/// Compares the delivered nightlies at the ends of a bisection, where these are not the builds that
/// the bisection made. So no commit is blamed for a compiler or a packed library. Single-threaded.
class PackageCheck {
 public:
  /// All arguments must outlive it.
  PackageCheck(storage::Store& store, measure::Rounds& rounds, config::DecideOptions const& options)
      : store_{store},
        rounds_{rounds},
        options_{options} {}

  /// Stores in `Bisection::packages` how the delivered builds differ. When the bisection found
  /// nothing, compares them once more. If they differ, and one recipe did not make both, the
  /// outcome is `environment`. `ends`: the bisection's own builds of its start and end. Fails as
  /// Rounds::measure does.
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
