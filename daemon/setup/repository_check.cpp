#include <algorithm>
#include <chrono>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include <boost/algorithm/string/join.hpp>

#include "bisect/git/history.h"
#include "daemon/builds/git_fetch.h"
#include "daemon/builds/workshop.h"
#include "daemon/builds/worktree.h"
#include "daemon/setup/checks.h"
#include "daemon/setup/clone_state.h"
#include "daemon/setup/feed_look.h"
#include "runner/process/scratch_directory.h"
#include "storage/base/date.h"

namespace torchwatch::setup {
namespace asio = boost::asio;

namespace {

/// Jobs that start after midnight have the date of the next day, and some days have no nightly.
constexpr std::chrono::days most_behind{2};

/// Returns the error "REPOSITORY: WHAT; run: COMMAND".
Error unfit(config::Options const& options, std::string const& what, std::string const& command) {
  return Error{ErrorCode::refused, options.source.repository + ": " + what + "; run: " + command};
}

/// Opens the clone. Where no fetch makes it readable, the Error names the command that replaces it.
Result<bisect::GitHistory> open_clone(config::SourceOptions const& source) {
  auto history = bisect::GitHistory::open(source.repository);
  if (history || history.error().code != ErrorCode::refused) return history;
  return Error{ErrorCode::refused,
               history.error().message + "; run: " + fresh_clone_command(source)};
}

/// True when the branch of this repository names the commits of nightlies.
bool needs_branch(config::Options const& options) {
  if (is_published(options.feed)) return true;
  std::error_code ignored;
  return options.feed.kind == config::FeedKind::git &&
         std::filesystem::equivalent(options.feed.path, options.source.repository, ignored);
}

/// Returns the newest release of the branch, as far as it was fetched.
std::optional<bisect::NightlyRelease> newest_release(config::Options const& options,
                                                     bisect::GitHistory const& history) {
  auto releases = history.nightly_releases(options.feed.branch, 1, options.source.remote);
  if (!releases || releases->empty()) return std::nullopt;
  return std::move(releases->front());
}

/// Returns the commit of the branch on a remote; nothing when there is no such branch, or no reply.
asio::awaitable<std::optional<CommitSha>> branch_at(CheckContext const& context,
                                                    std::string remote) {
  auto source = context.options.source;
  source.remote = std::move(remote);
  builds::GitFetch fetching{context.executor, source};
  auto const tip = co_await fetching.ask_remote(context.options.feed.branch);
  co_return tip ? *tip : std::nullopt;
}

/// Reads the branch from source.remote. Returns its state in words.
asio::awaitable<Result<std::string>> ask_remote(CheckContext const& context,
                                                CloneState const& state) {
  auto const& options = context.options;
  auto const& remote = options.source.remote;
  if (remote.empty())
    co_return std::string{"; it has no source.remote, so nothing is fetched into it"};
  builds::GitFetch fetching{context.executor, options.source};
  auto const newest = co_await fetching.ask_remote(options.feed.branch);
  if (!newest) co_return newest.error();
  auto const answer = "; the remote " + remote + " answers";
  if (*newest)
    co_return answer + ", its branch " + options.feed.branch + " is at " + short_of(**newest);
  if (!needs_branch(options)) co_return answer + ", and has no branch " + options.feed.branch;
  co_return unfit(options,
                  "its remote " + remote + " has no branch " + options.feed.branch +
                      ", which names the commits of nightlies, as a fork",
                  upstream_command(state, options.source));
}

/// Fails when the branch is missing and is never fetched.
Result<> check_unfetched(CheckContext const& context,
                         CloneState const& state,
                         bisect::GitHistory const& history) {
  auto const& options = context.options;
  if (!options.source.remote.empty() || !needs_branch(options)) return {};
  auto const command = completing_command(state, options.source.repository);
  auto const release = newest_release(options, history);
  if (!release)
    return unfit(options,
                 "has no branch " + options.feed.branch + ", which names the commits of nightlies",
                 command);
  if (history.commit(release->trunk)) return {};
  return unfit(
      options,
      "lacks commit " + release->trunk.hex + ", which nightly " + release->date + " was built from",
      command);
}

/// True when the clone has all commits of the remote's branch.
asio::awaitable<bool> is_up_to_date(CheckContext const& context,
                                    CloneState const& state,
                                    bisect::GitHistory const& history) {
  if (state.remote.empty()) co_return true;
  auto const tip = co_await branch_at(context, state.remote);
  co_return !tip || history.commit(*tip).has_value();
}

/// Compares the clone's branch with the newest published nightly.
asio::awaitable<Result<>> compare_dates(CheckContext const& context,
                                        CloneState const& state,
                                        bisect::GitHistory const& history) {
  auto const& options = context.options;
  auto const release = newest_release(options, history);
  if (!is_published(options.feed) || !release) co_return Result<>{};
  bool const is_current = co_await is_up_to_date(context, state, history);
  if (!is_current && !options.source.remote.empty()) co_return Result<>{};  // it will be fetched
  auto const found = co_await look_at_feed(context);
  if (!found || found->nightlies.empty()) co_return Result<>{};  // the feed's own check says so
  auto const newest = std::ranges::max_element(found->nightlies, {}, &Nightly::date);
  auto const published = day_of(newest->date);
  auto const released = day_of(release->date);
  if (!published || !released || *published - *released <= most_behind) co_return Result<>{};
  co_return unfit(options,
                  "branch " + options.feed.branch + " ends with the nightly of " + release->date +
                      ", the feed has one of " + newest->date +
                      (is_current ? "; is it of a fork?" : ", as it was not fetched since"),
                  is_current ? upstream_command(state, options.source)
                             : completing_command(state, options.source.repository));
}

/// Fails when the commit of the newest delivered build is missing and nothing is fetched.
asio::awaitable<Result<>> look_for_delivered(CheckContext const& context,
                                             CloneState const& state,
                                             bisect::GitHistory const& history) {
  auto const& options = context.options;
  bool const is_asked =
      options.feed.kind == config::FeedKind::directory && options.source.remote.empty();
  if (!is_asked) co_return Result<>{};
  auto const found = co_await look_at_feed(context);
  if (!found || found->nightlies.empty()) co_return Result<>{};
  auto const newest = std::ranges::max_element(found->nightlies, {}, &Nightly::date);
  if (history.commit(newest->commit)) co_return Result<>{};
  co_return unfit(options,
                  "lacks commit " + newest->commit.hex + " of the nightly of " + newest->date,
                  completing_command(state, options.source.repository));
}

/// Returns the commit that a build of the newest nightly would use; otherwise the default checkout.
Result<CommitSha> commit_to_try(config::Options const& options, bisect::GitHistory const& history) {
  auto const release = newest_release(options, history);
  if (release && history.commit(release->trunk)) return release->trunk;
  return history.resolve("HEAD");
}

/// Checks a commit out as a build would, into a directory that is removed.
asio::awaitable<Result<>> check_out(CheckContext const& context, CommitSha commit) {
  auto const scratch = process::ScratchDirectory::make();
  if (!scratch) co_return scratch.error();
  builds::Workshop workshop{context.executor, context.options};
  builds::Worktree tree{
      context.executor, workshop, std::filesystem::path{scratch->path()} / "trial"};
  builds::Origin origin;
  origin.commit = std::move(commit);
  co_return co_await tree.check_out(std::move(origin));
}

/// Uses one commit as a bisection does. Without a recipe, it reads which files the commit changed.
asio::awaitable<Result<>> try_commit(CheckContext const& context,
                                     CloneState const& state,
                                     bisect::GitHistory const& history) {
  auto const& options = context.options;
  auto const commit = commit_to_try(options, history);
  if (!commit) co_return commit.error();
  Result<> tried;
  if (!options.source.recipe.empty())
    tried = co_await check_out(context, *commit);
  else if (auto const changes = history.changes_of(*commit); !changes)
    tried = changes.error();
  if (tried) co_return tried;
  auto const what = "commit " + commit->hex + " cannot be read: " + tried.error().message;
  if (state.is_partial || state.is_shallow)
    co_return unfit(options, what, completing_command(state, options.source.repository));
  co_return Error{tried.error().code, options.source.repository + ": " + what};
}

}  // namespace

PendingCheck check_repository(CheckContext const& context) {
  auto const& options = context.options;
  auto const& repository = options.source.repository;
  if (repository.empty())
    co_return std::string{
        "nothing to do: without source.repository incidents name a nightly, not its commits"};
  auto const history = open_clone(options.source);
  if (!history) co_return history.error();
  auto const state = co_await read_clone_state(context.executor, options.source);
  if (!state) co_return state.error();
  auto const faults = faults_of(*state, options.source);
  if (!faults.empty())
    co_return unfit(options, boost::join(faults, "; it "), completing_command(*state, repository));
  auto const remote = co_await ask_remote(context, *state);
  if (!remote) co_return remote.error();
  auto const unfetched = check_unfetched(context, *state, *history);
  if (!unfetched) co_return unfetched.error();
  auto const compared = co_await compare_dates(context, *state, *history);
  if (!compared) co_return compared.error();
  auto const delivered = co_await look_for_delivered(context, *state, *history);
  if (!delivered) co_return delivered.error();
  auto const tried = co_await try_commit(context, *state, *history);
  if (!tried) co_return tried.error();
  co_return repository + ": opens" + *remote;
}

}  // namespace torchwatch::setup
