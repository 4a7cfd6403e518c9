#pragma once

#include <vector>

#include <boost/asio/awaitable.hpp>

#include "daemon/builds/builder.h"
#include "storage/domain/bisection.h"
#include "storage/domain/campaign.h"

namespace torchwatch::bisection {

/// Where the builds come from that a bisection measures. All of them were made alike, so whatever
/// two of them differ by is their commits' doing. Single-threaded.
class BuildSource {
 public:
  virtual ~BuildSource() = default;

  virtual BisectionStage stage() const = 0;

  /// Under which its builds are measured.
  virtual Campaign campaign() const = 0;

  /// The builds of `commits`, in their order, up to and including the first that cannot be had.
  virtual boost::asio::awaitable<Result<std::vector<builds::BuildAttempt>>> builds_of(
      std::vector<CommitSha> commits) = 0;

  /// What builds_of() would find ready.
  virtual builds::Known known(CommitSha const& commit) const = 0;

  /// Whether the next build that has to be made will probably be an incremental one.
  virtual bool is_warm() const = 0;
};

}  // namespace torchwatch::bisection
