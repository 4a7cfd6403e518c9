#include "daemon/retention/with_room.h"

namespace torchwatch::retention {
namespace asio = boost::asio;

using build::BuildAttempt;

asio::awaitable<Result<BuildAttempt>> BuilderWithRoom::build(CommitSha commit,
                                                             RecipeId recipe,
                                                             build::From from) {
  bool const is_there = builder_.known(commit, recipe) != build::Known::nothing;
  if (!is_there) builds_.make_room(true);
  auto attempt = co_await builder_.build(std::move(commit), recipe, from);
  if (!is_there) builds_.make_room();
  co_return attempt;
}

asio::awaitable<Result<BuildAttempt>> BuilderWithRoom::build_without(CommitSha culprit,
                                                                     CommitSha onto,
                                                                     RecipeId recipe) {
  builds_.make_room(true);
  auto attempt = co_await builder_.build_without(std::move(culprit), std::move(onto), recipe);
  builds_.make_room();
  co_return attempt;
}

asio::awaitable<Result<fetch::Fetched>> FetcherWithRoom::fetch(fetch::FetchOrder order) {
  bool const brings_a_build = !order.download.is_asked_only;
  if (brings_a_build) builds_.make_room(true);
  auto fetched = co_await fetcher_.fetch(std::move(order));
  if (brings_a_build) builds_.make_room();
  co_return fetched;
}

asio::awaitable<Result<std::vector<JobOutcome>>> RoundsWithUse::measure(measure::RoundKey key,
                                                                        std::vector<Build> builds) {
  for (auto const& build : builds)
    builds_.use(build.prefix);
  co_return co_await rounds_.measure(std::move(key), std::move(builds));
}

}  // namespace torchwatch::retention
