#pragma once

#include <map>
#include <optional>

#include <boost/asio/awaitable.hpp>

#include "daemon/build/builder.h"
#include "daemon/build/git_fetch.h"
#include "daemon/build/packages.h"
#include "storage/store.h"

namespace torchwatch::nightly {

/// Gets the build of a nightly. Single-threaded.
class Preparation {
 public:
  /// All arguments must outlive it.
  Preparation(storage::Store& store,
              Clock const& clock,
              build::Builder& builder,
              build::GitFetch& git_fetch,
              build::Packages& packages)
      : store_{store},
        clock_{clock},
        builder_{builder},
        git_fetch_{git_fetch},
        packages_{packages} {}

  /// Reads the build that the nightly came with, fetches the one that is published, takes that of
  /// an earlier nightly of the same commit, or makes one. Notes its prefix and version, or why
  /// there is none in `nightly.failure`. An Error means that it may be tried again; what cannot be
  /// fetched or made for a day, and a commit that nobody has for as long, is given up.
  boost::asio::awaitable<Result<>> prepare(Nightly& nightly);

  /// The build of a nightly that was prepared once, brought or made again if it is gone. Absent,
  /// with the reason, when it cannot come back. Errors as prepare()'s.
  boost::asio::awaitable<Result<build::BuildAttempt>> restore(Nightly nightly);

 private:
  boost::asio::awaitable<Result<build::BuildAttempt>> build_of(Nightly& nightly);
  boost::asio::awaitable<Result<build::BuildAttempt>> build_now(Nightly& nightly);
  boost::asio::awaitable<Result<>> fetch(CommitSha commit);
  boost::asio::awaitable<Result<build::BuildAttempt>> make(CommitSha commit);
  Result<build::BuildAttempt> patient(Nightly const& nightly, Result<build::BuildAttempt> tried);
  Result<build::BuildAttempt> noted(Result<build::BuildAttempt> attempt, Nightly& nightly);
  std::optional<Build> build_of_earlier(Nightly const& nightly);

  storage::Store& store_;
  Clock const& clock_;
  build::Builder& builder_;
  build::GitFetch& git_fetch_;
  build::Packages& packages_;
  std::map<NightlyId, Timestamp> in_trouble_since_;
};

}  // namespace torchwatch::nightly
