#include "daemon/builds/patient_builder.h"

#include <chrono>
#include <utility>

#include <fmt/format.h>

namespace torchwatch::builds {
namespace asio = boost::asio;

namespace {

std::string subject_of(CommitSha const& commit, RecipeId recipe) {
  return fmt::format("build {}-{}", commit.hex, recipe.value);
}

std::string subject_of(CommitSha const& culprit, CommitSha const& onto, RecipeId recipe) {
  return fmt::format("build {}-without-{}-{}", onto.hex, culprit.hex, recipe.value);
}

/// True when the attempts belong to an earlier request: they were given up a day ago, or the last
/// one is a week old.
bool is_of_earlier_request(Retry const& retry, Timestamp now) {
  constexpr std::chrono::hours week{7 * 24};
  return now - retry.last >= (is_over(retry) ? retry_patience : week);
}

}  // namespace

std::optional<Error> postponed(std::optional<Retry> const& retry, Timestamp now) {
  bool const is_early = retry && now >= retry->last && now < next_attempt(*retry);
  if (!is_early) return std::nullopt;
  auto const wait = std::chrono::ceil<std::chrono::minutes>(next_attempt(*retry) - now);
  return Error{ErrorCode::unavailable,
               fmt::format("{}; the next attempt is in {} min", retry->reason, wait.count())};
}

asio::awaitable<Result<Recipe>> PatientBuilder::recipe(int layout) {
  return builder_.recipe(layout);
}

asio::awaitable<Result<BuildAttempt>> PatientBuilder::build(CommitSha commit,
                                                            RecipeId recipe,
                                                            From from) {
  auto const subject = subject_of(commit, recipe);
  auto const early = too_early(subject);
  if (early && builder_.known(commit, recipe) == Known::nothing) co_return *early;
  auto attempt = co_await builder_.build(std::move(commit), recipe, from);
  co_return patient(subject, std::move(attempt));
}

asio::awaitable<Result<BuildAttempt>> PatientBuilder::build_without(CommitSha culprit,
                                                                    CommitSha onto,
                                                                    RecipeId recipe) {
  auto const subject = subject_of(culprit, onto, recipe);
  auto const early = too_early(subject);
  if (early) co_return *early;
  auto attempt = co_await builder_.build_without(std::move(culprit), std::move(onto), recipe);
  co_return patient(subject, std::move(attempt));
}

std::optional<Error> PatientBuilder::too_early(std::string const& subject) {
  auto const now = clock_.now();
  auto const retry = store_.retries().find(subject);
  if (retry && is_of_earlier_request(*retry, now)) {
    store_.retries().forget(subject);
    return std::nullopt;
  }
  return postponed(retry, now);
}

/// The record of a build that was given up stays for a day. So a kill before the result is stored
/// does not start another day of attempts.
Result<BuildAttempt> PatientBuilder::patient(std::string const& subject,
                                             Result<BuildAttempt> attempt) {
  if (!attempt) return attempt;
  if (!attempt->may_pass) {
    store_.retries().forget(subject);
    return attempt;
  }
  auto const retry = store_.retries().note(subject, clock_.now(), attempt->note);
  if (is_over(retry)) return attempt;
  return Error{ErrorCode::unavailable, attempt->note};
}

}  // namespace torchwatch::builds
