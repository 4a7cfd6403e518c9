#include "daemon/builds/git_fetch.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include <spdlog/spdlog.h>

#include "bisect/git/history.h"
#include "daemon/builds/git_program.h"

namespace torchwatch::builds {
namespace asio = boost::asio;
namespace fs = std::filesystem;

namespace {

/// The limit of a fetch. An interrupted fetch saves nothing for the next, and a clone that is
/// months behind takes long.
constexpr std::chrono::hours longest_fetch{1};

/// Fails with the first of `commits` that is missing.
Result<> look_for(bisect::GitHistory const& history, std::vector<CommitSha> const& commits) {
  for (auto const& commit : commits) {
    auto const found = history.commit(commit);
    if (!found) return found.error();
  }
  return {};
}

/// True when all objects were received and only some branches could not be moved. For example, a
/// new branch has the name of a folder of old ones.
bool has_come(async::ToolRun const& run) {
  constexpr int some_refs = 1;  // "fatal" ends with 128
  return run.is_good() || (run.status.signal == 0 && run.status.code == some_refs &&
                           run.errors.find("fatal: ") == std::string::npos);
}

bool is_kept_out_by_a_lock(async::ToolRun const& run) {
  return run.errors.find(".lock': File exists") != std::string::npos;
}

/// True when a killed git left the file. Git holds the lock of a branch for milliseconds, and keeps
/// writing to a pack while it receives.
bool is_dead(fs::path const& file) {
  constexpr std::chrono::hours certainly{1};
  std::error_code problem;
  auto const written = fs::last_write_time(file, problem);
  return !problem && fs::file_time_type::clock::now() - written > certainly;
}

/// Removes the packs of killed fetches, which are useless to the next.
void remove_dead_packs(fs::path const& git_directory) {
  std::error_code problem;
  for (auto at = fs::directory_iterator{git_directory / "objects/pack", problem};
       !problem && at != fs::end(at);
       at.increment(problem)) {
    std::error_code ignored;
    bool const is_unfinished = at->path().filename().string().starts_with("tmp_");
    if (is_unfinished && is_dead(at->path())) fs::remove(at->path(), ignored);
  }
}

/// Removes the locks that a killed git left on branches or their list. True when there were any.
bool release_dead_locks(fs::path const& git_directory) {
  std::vector<fs::path> locks{git_directory / "packed-refs.lock"};
  std::error_code problem;
  for (auto at = fs::recursive_directory_iterator{git_directory / "refs", problem};
       !problem && at != fs::end(at);
       at.increment(problem))
    if (at->path().extension() == ".lock") locks.push_back(at->path());
  std::erase_if(locks, [](fs::path const& lock) { return !is_dead(lock); });
  for (auto const& lock : locks) {
    spdlog::warn("dead_lock_removed path={}", lock.string());
    fs::remove(lock, problem);
  }
  return !locks.empty();
}

}  // namespace

asio::awaitable<Result<>> GitFetch::ensure(std::vector<CommitSha> commits) {
  auto const history = bisect::GitHistory::open(source_.repository);
  if (!history) co_return history.error();
  auto const known = look_for(*history, commits);
  if (known || known.error().code != ErrorCode::not_found || source_.remote.empty())
    co_return known;
  auto const alone = co_await gate_.enter();
  if (look_for(*history, commits)) co_return Result<>{};  // an earlier caller fetched them
  auto const fetched = co_await fetch();
  // A fetch may fail at one branch after it brought all the others.
  auto const found = look_for(*history, commits);
  if (found || fetched) co_return found;
  co_return Error{ErrorCode::unavailable,
                  found.error().message + "; " + fetched.error().message,
                  fetched.error().is_of_host};
}

asio::awaitable<Result<>> GitFetch::refresh() {
  if (source_.remote.empty()) co_return Result<>{};
  auto const alone = co_await gate_.enter();
  co_return co_await fetch();
}

asio::awaitable<Result<>> GitFetch::fetch() {
  auto const started = std::chrono::steady_clock::now();
  spdlog::info("fetch_started repository={} remote={}", source_.repository, source_.remote);
  // Always into a pack: a killed fetch then leaves no commit without its ancestors. Git repacks on
  // its own, as after any fetch.
  std::vector<std::string> arguments{"-c",
                                     "fetch.unpackLimit=1",
                                     "-c",
                                     "http.lowSpeedLimit=1000",
                                     "-c",
                                     "http.lowSpeedTime=600",
                                     "fetch",
                                     "--quiet",
                                     "--no-tags",
                                     "--no-recurse-submodules",
                                     "--no-write-fetch-head",
                                     source_.remote};
  auto const refspec = co_await missing_refspec();
  if (refspec && !refspec->empty()) arguments.push_back(*refspec);
  auto const run = co_await git_past_remains(std::move(arguments));
  if (run && has_come(*run)) {
    if (!run->is_good()) spdlog::warn("fetch_incomplete reason=\"{}\"", reason_of_git(*run));
    std::chrono::duration<double> const seconds = std::chrono::steady_clock::now() - started;
    spdlog::info("fetch_finished repository={} remote={} seconds={:.1f}",
                 source_.repository,
                 source_.remote,
                 seconds.count());
    co_return Result<>{};
  }
  auto const reason = run ? reason_of_git(*run) : run.error().message;
  spdlog::warn("fetch_failed repository={} remote={} reason=\"{}\"",
               source_.repository,
               source_.remote,
               reason);
  co_return Error{ErrorCode::unavailable,
                  "fetch " + source_.remote + " into " + source_.repository + ": " + reason,
                  !run && run.error().is_of_host};
}

/// Runs git. When it fails, cleans up after killed calls, and repeats it once if they had left
/// locks.
asio::awaitable<Result<async::ToolRun>> GitFetch::git_past_remains(
    std::vector<std::string> arguments) {
  auto const again = arguments;
  auto run = co_await git(std::move(arguments), longest_fetch);
  if (run && run->is_good()) co_return run;
  std::vector<std::string> question{"rev-parse", "--git-common-dir"};
  auto const directory = co_await git(std::move(question));
  if (!directory || !directory->is_good()) co_return run;
  auto const line = directory->output.substr(0, directory->output.find('\n'));
  auto const place = fs::path{source_.repository} / line;
  remove_dead_packs(place);
  if (!run || !is_kept_out_by_a_lock(*run) || !release_dead_locks(place)) co_return run;
  co_return co_await git(again, longest_fetch);
}

/// Returns the refspec for branches when the remote has none; otherwise an empty text.
asio::awaitable<Result<std::string>> GitFetch::missing_refspec() {
  std::vector<std::string> question{"config", "--get-all", "remote." + source_.remote + ".fetch"};
  auto const configured = co_await git(std::move(question));
  if (!configured) co_return configured.error();
  if (!configured->output.empty()) co_return std::string{};
  question = {"rev-parse", "--is-bare-repository"};
  auto const bare = co_await git(std::move(question));
  if (!bare) co_return bare.error();
  auto const place = bare->output == "true\n" ? std::string{"heads"} : "remotes/" + source_.remote;
  co_return "+refs/heads/*:refs/" + place + "/*";
}

asio::awaitable<Result<std::optional<CommitSha>>> GitFetch::ask_remote(std::string branch) {
  constexpr std::chrono::minutes patience{1};
  std::vector<std::string> arguments{"ls-remote", source_.remote, "refs/heads/" + branch};
  auto const run = co_await git(std::move(arguments), patience);
  if (!run || !run->is_good()) {
    co_return Error{ErrorCode::unavailable,
                    "remote " + source_.remote + " of " + source_.repository + ": " +
                        (run ? reason_of_git(*run) : run.error().message)};
  }
  // "HASH<tab>refs/heads/BRANCH"
  auto const hash = run->output.substr(0, run->output.find('\t'));
  if (!is_commit_sha(hash)) co_return std::nullopt;
  co_return CommitSha{hash};
}

asio::awaitable<Result<async::ToolRun>> GitFetch::git(std::vector<std::string> arguments,
                                                      std::chrono::seconds limit) {
  co_return co_await run_git(executor_, source_.repository, std::move(arguments), limit);
}

}  // namespace torchwatch::builds
