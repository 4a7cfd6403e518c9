#pragma once

#include <optional>
#include <string>

#include <boost/asio/awaitable.hpp>

#include "daemon/builds/builder.h"
#include "storage/store.h"

namespace torchwatch::builds {

/// Why nothing is tried now: the last reason, and when the next attempt is due. Nothing where it is
/// due, or where there was no attempt.
std::optional<Error> postponed(std::optional<Retry> const& retry, Timestamp now);

/// Asks another builder again, at longer and longer intervals (next_attempt), for what it could not
/// build this time (BuildAttempt::may_pass). The store counts the attempts at each commit and
/// recipe, so all processes and restarts share one day. An Error of the other builder counts for
/// nothing. Single-threaded.
class PatientBuilder final : public Builder {
 public:
  /// All must outlive it.
  PatientBuilder(Builder& builder, storage::Store& store, Clock const& clock)
      : builder_{builder},
        store_{store},
        clock_{clock} {}

  boost::asio::awaitable<Result<Recipe>> recipe(int layout) override;

  /// As the other's. Fails with unavailable, also before the next attempt is due, for
  /// `retry_patience` after the first attempt; then the last attempt is the answer.
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
