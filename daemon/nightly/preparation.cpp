#include "daemon/nightly/preparation.h"

#include <string>
#include <utility>
#include <vector>

#include <spdlog/spdlog.h>

#include "daemon/builds/manifest.h"
#include "daemon/builds/patient_builder.h"

namespace torchwatch::nightly {
namespace asio = boost::asio;

using builds::BuildAttempt;

asio::awaitable<Result<>> Preparation::prepare(Nightly& nightly) {
  auto const attempt = co_await build_of(nightly);
  if (!attempt) co_return attempt.error();
  if (attempt->build) {
    nightly.prefix = attempt->build->prefix;
    nightly.version = attempt->build->manifest.version;
  } else {
    nightly.failure = attempt->note;
  }
  co_return Result<>{};
}

/// Tries nothing before the next attempt is due.
asio::awaitable<Result<BuildAttempt>> Preparation::build_of(Nightly& nightly) {
  auto const retry = store_.retries().find(retry_subject(nightly.id));
  auto const now = clock_.now();
  if (auto const early = builds::postponed(retry, now)) co_return *early;
  bool const is_last = retry && now - retry->since >= retry_patience;
  auto const trunk = is_last ? builds::Trunk::optional : builds::Trunk::awaited;
  auto tried = co_await build_now(nightly, trunk);
  // The file may have arrived although its worker did not compile: its digest is known now.
  if (!tried) store_.nightlies().update(nightly);
  co_return patient(nightly, std::move(tried));
}

asio::awaitable<Result<BuildAttempt>> Preparation::build_now(Nightly& nightly,
                                                             builds::Trunk trunk) {
  BuildAttempt attempt;
  if (!nightly.prefix.empty()) {
    auto present = builds::read_build_of(nightly);
    if (!present && present.error().code == ErrorCode::unavailable) co_return present.error();
    if (present)
      attempt.build = std::move(*present);
    else
      attempt.note = present.error().message;
    co_return attempt;
  }
  if (nightly.file) co_return co_await packages_.bring(nightly, trunk);
  attempt.build = build_of_earlier(nightly);
  if (!attempt.build) {
    // No repository has the commit: it is in a fork, misspelt, or not pushed yet.
    co_return co_await make(nightly.commit);
  }
  spdlog::info("nightly_repeats date={} commit={}", nightly.date, short_of(nightly.commit));
  co_return attempt;
}

asio::awaitable<Result<BuildAttempt>> Preparation::restore(Nightly nightly) {
  if (auto present = builds::read_build_of(nightly)) {
    BuildAttempt attempt;
    attempt.build = std::move(*present);
    co_return attempt;
  }
  if (!nightly.file) {
    auto made = co_await make(nightly.commit);
    co_return noted(std::move(made), nightly);
  }
  auto brought = co_await packages_.bring(nightly);
  co_return noted(std::move(brought), nightly);
}

asio::awaitable<Result<BuildAttempt>> Preparation::bring_back(Nightly nightly) {
  auto const retry = store_.retries().find(retry_subject(nightly.id));
  if (auto const early = builds::postponed(retry, clock_.now())) co_return *early;
  auto tried = co_await restore(nightly);
  co_return patient(nightly, std::move(tried));
}

/// Stores the prefix of a nightly's build.
Result<BuildAttempt> Preparation::noted(Result<BuildAttempt> attempt, Nightly& nightly) {
  if (!attempt || !attempt->build) return attempt;
  nightly.prefix = attempt->build->prefix;
  store_.nightlies().update(nightly);
  return attempt;
}

/// Gives up a nightly that still lacks a file, commit or build a day after the first attempt: later
/// nightlies wait as long. The record stays, so that a kill before the nightly's state is stored
/// does not start another day. A host that cannot start any program is not counted.
Result<BuildAttempt> Preparation::patient(Nightly const& nightly, Result<BuildAttempt> tried) {
  if (!tried && tried.error().is_of_host) return tried;
  auto const subject = retry_subject(nightly.id);
  bool const may_come = tried ? tried->may_pass
                              : tried.error().code == ErrorCode::unavailable ||
                                    tried.error().code == ErrorCode::not_found;
  if (tried && !may_come) store_.retries().forget(subject);
  if (!may_come) return tried;
  BuildAttempt given_up;
  given_up.note = tried ? tried->note : tried.error().message;
  auto const retry = store_.retries().note(subject, clock_.now(), given_up.note);
  if (is_over(retry)) return given_up;
  return tried ? Error{ErrorCode::unavailable, given_up.note} : tried.error();
}

asio::awaitable<Result<>> Preparation::fetch(CommitSha commit) {
  std::vector<CommitSha> commits{std::move(commit)};
  co_return co_await git_fetch_.ensure(std::move(commits));
}

asio::awaitable<Result<BuildAttempt>> Preparation::make(CommitSha commit) {
  auto const fetched = co_await fetch(commit);
  if (!fetched) co_return fetched.error();
  auto const recipe = co_await builder_.recipe();
  if (!recipe) co_return recipe.error();
  co_return co_await builder_.build(commit, recipe->id, builds::From::anywhere);
}

/// Returns the build of an earlier nightly of the same commit: there is nothing to compare between
/// them.
std::optional<Build> Preparation::build_of_earlier(Nightly const& nightly) {
  std::optional<Build> newest;
  for (auto const& earlier : store_.nightlies().of(nightly.commit)) {
    if (earlier.prefix.empty()) continue;
    if (auto build = builds::read_build_of(earlier)) newest = std::move(*build);
  }
  return newest;
}

}  // namespace torchwatch::nightly
