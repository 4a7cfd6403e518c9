#pragma once

#include <optional>
#include <string>

#include <boost/asio/awaitable.hpp>

#include "daemon/builds/builder.h"
#include "storage/store.h"

namespace torchwatch::builds {

/// Returns the reason to wait: the last failure, and the time of the next attempt. Returns nothing
/// when an attempt is due, or when there was none.
std::optional<Error> postponed(std::optional<Retry> const& retry, Timestamp now);

/// Retries the builds of another builder that failed temporarily (BuildAttempt::may_pass), at
/// increasing intervals (next_attempt). The store counts the attempts per commit and recipe, so all
/// processes and restarts share one day. An Error of the other builder does not count.
/// Single-threaded.
class PatientBuilder final : public Builder {
 public:
  /// All must outlive it.
  PatientBuilder(Builder& builder, storage::Store& store, Clock const& clock)
      : builder_{builder},
        store_{store},
        clock_{clock} {}

  boost::asio::awaitable<Result<Recipe>> recipe(int layout) override;

  /// Builds as the other builder does. Fails with unavailable, also before the next attempt is due,
  /// for `retry_patience` after the first attempt. After that, returns the last attempt.
  boost::asio::awaitable<Result<BuildAttempt>> build(CommitSha commit,
                                                     RecipeId recipe,
                                                     From from) override;
  boost::asio::awaitable<Result<BuildAttempt>> build_without(CommitSha culprit,
                                                             CommitSha onto,
                                                             RecipeId recipe) override;

  Known known(CommitSha const& commit, RecipeId recipe) const override {
    return builder_.known(commit, recipe);
  }

  bool is_warm() const override { return builder_.is_warm(); }

 private:
  std::optional<Error> too_early(std::string const& subject);
  Result<BuildAttempt> patient(std::string const& subject, Result<BuildAttempt> attempt);

  Builder& builder_;
  storage::Store& store_;
  Clock const& clock_;
};

}  // namespace torchwatch::builds
