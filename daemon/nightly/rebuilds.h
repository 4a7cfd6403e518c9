#pragma once

#include <vector>

#include <boost/asio/awaitable.hpp>

#include "config/options.h"
#include "daemon/builds/builder.h"
#include "daemon/builds/git_fetch.h"
#include "daemon/measure/comparison.h"
#include "daemon/measure/rounds.h"
#include "storage/store.h"

namespace torchwatch::nightly {

/// Compares two builds of a nightly's commit, made in two layouts, on a sample of its benchmarks.
/// It gives no verdict: searches use it to learn how much builds differ by themselves.
/// Single-threaded.
class Rebuilds {
 public:
  /// All arguments must outlive it.
  Rebuilds(config::Options const& options,
           storage::Store& store,
           measure::Rounds& rounds,
           builds::Builder& builder,
           builds::GitFetch& git_fetch)
      : options_{options},
        store_{store},
        rounds_{rounds},
        builder_{builder},
        git_fetch_{git_fetch} {}

  /// Compares `decide.aa_rebuilds` benchmarks of each fleet. Does nothing, and logs the reason,
  /// when the recipe knows no layouts, or the commit is unavailable or unbuildable. An Error means
  /// that another attempt may succeed, and continues then.
  boost::asio::awaitable<Result<>> compare(Nightly const& nightly);

 private:
  boost::asio::awaitable<Result<std::vector<Build>>> builds_of(Nightly const& nightly);
  boost::asio::awaitable<Result<>> compare_on(Nightly const& nightly, std::vector<Build> builds);

  config::Options const& options_;
  storage::Store& store_;
  measure::Rounds& rounds_;
  builds::Builder& builder_;
  builds::GitFetch& git_fetch_;
};

}  // namespace torchwatch::nightly
