#pragma once

#include <utility>
#include <vector>

#include "daemon/build/builder.h"
#include "daemon/build/fetcher.h"
#include "daemon/measure/rounds.h"
#include "daemon/retention/build_store.h"

/// Whoever makes, fetches and measures builds, with room made before and after, and their use
/// noted. What is asked for is passed on, and so are the errors.
namespace torchwatch::retention {

class BuilderWithRoom final : public build::Builder {
 public:
  /// Both must outlive it.
  BuilderWithRoom(build::Builder& builder, BuildStore& builds)
      : builder_{builder},
        builds_{builds} {}

  boost::asio::awaitable<Result<Recipe>> recipe(int layout) override {
    return builder_.recipe(layout);
  }

  boost::asio::awaitable<Result<build::BuildAttempt>> build(CommitSha commit,
                                                            RecipeId recipe,
                                                            build::From from) override;
  boost::asio::awaitable<Result<build::BuildAttempt>> build_without(CommitSha culprit,
                                                                    CommitSha onto,
                                                                    RecipeId recipe) override;

  build::Known known(CommitSha const& commit, RecipeId recipe) const override {
    return builder_.known(commit, recipe);
  }

  bool is_warm() const override { return builder_.is_warm(); }

 private:
  build::Builder& builder_;
  BuildStore& builds_;
};

class FetcherWithRoom final : public build::Fetcher {
 public:
  /// Both must outlive it.
  FetcherWithRoom(build::Fetcher& fetcher, BuildStore& builds)
      : fetcher_{fetcher},
        builds_{builds} {}

  boost::asio::awaitable<Result<fetch::Fetched>> fetch(fetch::FetchOrder order) override;

  boost::asio::awaitable<Result<fetch::Index>> look_into(fetch::IndexOrder order) override {
    return fetcher_.look_into(std::move(order));
  }

  boost::asio::awaitable<Result<fetch::CompanionFile>> find(fetch::CompanionOrder order) override {
    return fetcher_.find(std::move(order));
  }

 private:
  build::Fetcher& fetcher_;
  BuildStore& builds_;
};

class RoundsWithUse final : public measure::Rounds {
 public:
  /// Both must outlive it.
  RoundsWithUse(measure::Rounds& rounds, BuildStore& builds) : rounds_{rounds}, builds_{builds} {}

  boost::asio::awaitable<Result<std::vector<JobOutcome>>> measure(
      measure::RoundKey key, std::vector<Build> builds) override;

 private:
  measure::Rounds& rounds_;
  BuildStore& builds_;
};

}  // namespace torchwatch::retention
