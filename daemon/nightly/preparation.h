#pragma once

#include <optional>

#include <boost/asio/awaitable.hpp>

#include "daemon/builds/builder.h"
#include "daemon/builds/git_fetch.h"
#include "daemon/builds/packages.h"
#include "storage/store.h"

namespace torchwatch::nightly {

/// Gets the build of a nightly. Single-threaded.
class Preparation {
 public:
  /// All arguments must outlive it. `builder` tries once: the patience is the nightly's here.
  Preparation(storage::Store& store,
              Clock const& clock,
              builds::Builder& builder,
              builds::GitFetch& git_fetch,
              builds::Packages& packages)
      : store_{store},
        clock_{clock},
        builder_{builder},
        git_fetch_{git_fetch},
        packages_{packages} {}

  /// Reads the build that the nightly came with, fetches the one that is published, takes that of
  /// an earlier nightly of the same commit, or makes one. Notes its prefix and version, or why
  /// there is none in `nightly.failure`. An Error means that it may be tried again: what cannot be
  /// fetched or made, and a commit that nobody has, at longer and longer intervals (next_attempt),
  /// until it is given up with the last reason: after a day, which the store counts. Where only the
  /// trunk commit is missing by then, the nightly is measured without.
  boost::asio::awaitable<Result<>> prepare(Nightly& nightly);

  /// The build of a nightly that was prepared once, brought or made again if it is gone. Absent,
  /// with the reason, when it cannot come back. Errors as prepare()'s.
  boost::asio::awaitable<Result<builds::BuildAttempt>> restore(Nightly nightly);

 private:
  boost::asio::awaitable<Result<builds::BuildAttempt>> build_of(Nightly& nightly);
  boost::asio::awaitable<Result<builds::BuildAttempt>> build_now(Nightly& nightly,
                                                                 builds::Trunk trunk);
  boost::asio::awaitable<Result<>> fetch(CommitSha commit);
  boost::asio::awaitable<Result<builds::BuildAttempt>> make(CommitSha commit);
  Result<builds::BuildAttempt> patient(Nightly const& nightly, Result<builds::BuildAttempt> tried);
  Result<builds::BuildAttempt> noted(Result<builds::BuildAttempt> attempt, Nightly& nightly);
  std::optional<Build> build_of_earlier(Nightly const& nightly);

  storage::Store& store_;
  Clock const& clock_;
  builds::Builder& builder_;
  builds::GitFetch& git_fetch_;
  builds::Packages& packages_;
};

}  // namespace torchwatch::nightly
