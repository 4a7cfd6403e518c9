#pragma once

#include <vector>

#include <boost/asio/awaitable.hpp>

#include "daemon/builds/builder.h"
#include "storage/domain/bisection.h"
#include "storage/domain/campaign.h"

namespace torchwatch::bisection {

/// The source of the builds that a bisection measures. All are made the same way, so two builds
/// differ only by their commits. Single-threaded.
class BuildSource {
 public:
  virtual ~BuildSource() = default;

  virtual BisectionStage stage() const = 0;

  /// The campaign of its measurements.
  virtual Campaign campaign() const = 0;

  /// Returns the builds of `commits`, in their order, up to and including the first that is
  /// unavailable.
  virtual boost::asio::awaitable<Result<std::vector<builds::BuildAttempt>>> builds_of(
      std::vector<CommitSha> commits) = 0;

  /// Returns what builds_of() would find without making anything.
  virtual builds::Known known(CommitSha const& commit) const = 0;

  /// True when the next new build will probably be an incremental one.
  virtual bool is_warm() const = 0;
};

}  // namespace torchwatch::bisection
