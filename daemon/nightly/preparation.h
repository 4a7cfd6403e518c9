#pragma once

#include <optional>

#include <boost/asio/awaitable.hpp>

#include "daemon/build/builder.h"
#include "daemon/build/git_fetch.h"
#include "storage/store.h"

namespace torchwatch::nightly {

/// Gets the build of a nightly. Single-threaded.
class Preparation {
 public:
  /// All arguments must outlive it.
  Preparation(storage::Store& store, build::Builder& builder, build::GitFetch& git_fetch)
      : store_{store},
        builder_{builder},
        git_fetch_{git_fetch} {}

  /// Reads the build that the nightly came with, takes that of an earlier nightly of the same
  /// commit, or makes one. Notes its prefix and version, or why there is none in
  /// `nightly.failure`. An Error means that it may be tried again.
  boost::asio::awaitable<Result<>> prepare(Nightly& nightly);

 private:
  boost::asio::awaitable<Result<build::BuildAttempt>> build_of(Nightly const& nightly);
  boost::asio::awaitable<Result<build::BuildAttempt>> make(CommitSha commit);
  std::optional<Build> build_of_earlier(Nightly const& nightly);

  storage::Store& store_;
  build::Builder& builder_;
  build::GitFetch& git_fetch_;
};

}  // namespace torchwatch::nightly
