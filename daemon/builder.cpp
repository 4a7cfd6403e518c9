#include "daemon/builder.h"

#include <algorithm>
#include <chrono>
#include <string_view>
#include <thread>
#include <utility>

#include <spdlog/spdlog.h>

#include "bisect/git_history.h"
#include "daemon/async/watchdog.h"
#include "daemon/build_manifest.h"

namespace torchwatch {
namespace asio = boost::asio;
namespace fs = std::filesystem;

namespace {

constexpr int cannot_be_built = 125;
constexpr int last_ordinary_status = 127;

/// The processors that each of the recipes at a time may use.
int cores_of_one(config::SourceOptions const& source) {
  int const all =
      source.cores > 0 ? source.cores : static_cast<int>(std::thread::hardware_concurrency());
  return std::max(1, all / source.builds);
}

}  // namespace

Builder::Builder(asio::any_io_executor executor,
                 config::SourceOptions const& source,
                 fs::path state_dir,
                 storage::Store& store,
                 Clock const& clock)
    : executor_{std::move(executor)},
      source_{source},
      state_dir_{std::move(state_dir)},
      store_{store},
      clock_{clock},
      gate_{executor_, source.builds} {
  std::error_code ignored;  // an orphan of the last run may still be writing there
  fs::remove_all(state_dir_ / "work", ignored);
  fs::create_directories(state_dir_ / "builds");
  fs::create_directories(state_dir_ / "logs");
}

/// Everything a recipe needs, in an empty directory: the commit's tree, and room for the prefix.
Result<> Builder::lay_out(Origin const& origin, fs::path const& work) const {
  std::error_code problem;
  fs::remove_all(work, problem);
  fs::create_directories(work / "source", problem);
  if (problem)
    return Error{ErrorCode::internal, "make " + work.string() + ": " + problem.message()};
  auto history = bisect::GitHistory::open(source_.repository);
  if (!history) return history.error();
  if (origin.revert) {
    auto const made = history->revert(origin.revert->culprit, origin.revert->onto);
    if (!made) return made.error();
  }
  return history->export_tree(origin.commit, work / "source");
}

Known Builder::known(CommitSha const& commit) const {
  auto const attempt = recall(commit);
  if (!attempt) return Known::nothing;
  return attempt->build ? Known::built : Known::unbuildable;
}

/// Somebody else's build, if it is whole and of this commit.
std::optional<Build> Builder::find_artifact(CommitSha const& commit) const {
  constexpr std::string_view mark = "{commit}";
  auto place = source_.artifacts;
  auto const at = place.find(mark);
  if (at == std::string::npos) return std::nullopt;
  place.replace(at, mark.size(), commit.hex);
  if (!fs::exists(place)) return std::nullopt;
  auto found = read_build(place);
  if (found && found->manifest.commit == commit) return std::move(*found);
  spdlog::warn("artifact_refused place={} reason=\"{}\"",
               place,
               found ? "it is of commit " + found->manifest.commit.hex : found.error().message);
  return std::nullopt;
}

std::optional<BuildAttempt> Builder::recall(CommitSha const& commit) const {
  if (auto ready = find_artifact(commit)) return BuildAttempt{std::move(*ready), ""};
  auto const known = store_.builds().find(commit);
  if (!known) return std::nullopt;
  if (known->state == storage::BuildState::unbuildable)
    return BuildAttempt{std::nullopt, known->note};
  auto present = read_build(known->prefix);
  if (!present) return std::nullopt;
  return BuildAttempt{std::move(*present), ""};
}

asio::awaitable<Result<BuildAttempt>> Builder::build(CommitSha commit) {
  Origin origin{std::move(commit), std::nullopt};
  co_return co_await get(std::move(origin));
}

asio::awaitable<Result<BuildAttempt>> Builder::build_without(CommitSha culprit, CommitSha onto) {
  auto const history = bisect::GitHistory::open(source_.repository);
  if (!history) co_return history.error();
  auto const made = history->revert(culprit, onto);
  if (!made) co_return made.error();
  if (!*made)
    co_return BuildAttempt{std::nullopt, "git revert does not apply on " + short_of(onto)};
  Origin origin{**made, Origin::Revert{std::move(culprit), std::move(onto)}};
  co_return co_await get(std::move(origin));
}

asio::awaitable<Result<BuildAttempt>> Builder::get(Origin origin) {
  auto const commit = origin.commit;
  if (auto known = recall(commit)) co_return std::move(*known);
  auto const [making, is_first] = in_making_.try_emplace(commit, executor_, 1);
  auto const alone = co_await making->second.enter();
  if (auto known = recall(commit)) co_return std::move(*known);  // made by somebody meanwhile
  auto const place = co_await gate_.enter();
  co_return co_await make(std::move(origin));
}

asio::awaitable<Result<BuildAttempt>> Builder::make(Origin origin) {
  auto const& commit = origin.commit;
  if (source_.repository.empty() || source_.recipe.empty()) {
    co_return Error{
        ErrorCode::invalid_argument,
        "build " + short_of(commit) + ": source.repository and source.recipe are not configured"};
  }
  auto const started = std::chrono::steady_clock::now();
  spdlog::info("build_started commit={}", short_of(commit));
  // A name of its own for every attempt: a killed attempt's compiler may live on for a moment.
  auto const work = state_dir_ / "work" /
                    (short_of(commit) + "-" + std::to_string(started.time_since_epoch().count()));
  auto const laid_out = lay_out(origin, work);
  if (!laid_out) co_return laid_out.error();
  auto const log = state_dir_ / "logs" / ("build-" + commit.hex + ".log");
  auto const status = co_await run_recipe(commit, work, log);
  if (!status) co_return status.error();
  auto const told = runner::describe(*status);
  auto const where = told + ", see " + log.string();
  if (status->signal == 0 && status->code > last_ordinary_status)
    co_return Error{ErrorCode::refused, "build " + short_of(commit) + ": recipe aborted: " + where};
  std::error_code ignored;
  if (status->signal != 0 || status->code != 0) {
    fs::remove_all(work, ignored);
    bool const forever = status->signal == 0 && status->code == cannot_be_built;
    co_return give_up(commit, "recipe: " + where, forever);
  }
  std::chrono::duration<double> const seconds = std::chrono::steady_clock::now() - started;
  auto kept = keep(commit, work / "prefix", seconds.count());
  fs::remove_all(work, ignored);
  if (kept && kept->build)
    spdlog::info("build_finished commit={} seconds={:.1f}", short_of(commit), seconds.count());
  co_return kept;
}

asio::awaitable<Result<runner::ExitStatus>> Builder::run_recipe(CommitSha const& commit,
                                                                fs::path const& work,
                                                                fs::path const& log) {
  runner::Command command;
  command.argv = {source_.recipe, (work / "source").string(), (work / "prefix").string()};
  command.env = {{"TORCHWATCH_COMMIT", commit.hex},
                 {"TORCHWATCH_CORES", std::to_string(cores_of_one(source_))}};
  command.unset_env = {"GITHUB_TOKEN"};
  command.stdout_file = log.string();
  command.stderr_file = log.string();
  std::error_code ignored;
  fs::remove(log, ignored);
  auto recipe = runner::ChildProcess::start(executor_, std::move(command));
  if (!recipe) co_return recipe.error();
  recipe->close_stdin();
  Watchdog const watchdog{executor_, source_.timeout, *recipe};
  co_return co_await recipe->wait();
}

Result<BuildAttempt> Builder::keep(CommitSha const& commit, fs::path const& made, double seconds) {
  auto const build = read_build(made);
  if (!build) return give_up(commit, "recipe left no good prefix: " + build.error().message, false);
  if (build->manifest.commit != commit) {
    return give_up(
        commit, "recipe built " + build->manifest.commit.hex + " instead of this commit", false);
  }
  auto const place = state_dir_ / "builds" / commit.hex;
  std::error_code problem;
  fs::remove_all(place, problem);
  fs::rename(made, place, problem);
  if (problem) {
    return Error{ErrorCode::internal,
                 "move " + made.string() + " to " + place.string() + ": " + problem.message()};
  }
  store_.builds().record(
      {commit, storage::BuildState::built, place.string(), "", clock_.now(), seconds});
  auto kept = read_build(place);  // again, because paths inside depend on the place
  if (!kept) return kept.error();
  return BuildAttempt{std::move(*kept), ""};
}

BuildAttempt Builder::give_up(CommitSha const& commit, std::string note, bool forever) {
  spdlog::warn("build_skipped commit={} reason=\"{}\"", short_of(commit), note);
  if (forever) {
    store_.builds().record({commit, storage::BuildState::unbuildable, "", note, clock_.now()});
  }
  return BuildAttempt{std::nullopt, std::move(note)};
}

}  // namespace torchwatch
