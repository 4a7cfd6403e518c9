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
  /// All arguments must outlive it. `builder` tries once: this class counts the attempts of a
  /// nightly.
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

  /// Reads the delivered build of the nightly, fetches the published one, uses that of an earlier
  /// nightly of the same commit, or makes one. Stores its prefix and version, or the reason why
  /// there is none in `nightly.failure`.
  ///
  /// An Error means that another attempt may succeed. Failed fetches and builds, and missing
  /// commits, are retried at increasing intervals (next_attempt). After a day, which the store
  /// counts, they are given up with the last reason. If only the trunk commit is missing by then,
  /// the nightly is measured without it.
  boost::asio::awaitable<Result<>> prepare(Nightly& nightly);

  /// Returns the build of a nightly that was prepared before; fetches or makes it again if it is
  /// gone. The result has no build, but a reason, when that is impossible. Fails as prepare() does.
  boost::asio::awaitable<Result<builds::BuildAttempt>> restore(Nightly nightly);

  /// Does what restore() does, and counts the attempts as prepare() does: after a day, the result
  /// has no build, but the last reason.
  boost::asio::awaitable<Result<builds::BuildAttempt>> bring_back(Nightly nightly);

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
