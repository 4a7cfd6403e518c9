#include "daemon/builds/recipe_builder.h"

#include <chrono>
#include <filesystem>
#include <string_view>
#include <utility>

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>
#include <spdlog/spdlog.h>

#include "bisect/git/history.h"
#include "daemon/async/flush_disk.h"
#include "daemon/builds/contents.h"
#include "daemon/builds/manifest.h"
#include "daemon/builds/missing_files.h"
#include "storage/base/remove_tree.h"

namespace torchwatch::builds {
namespace asio = boost::asio;
namespace fs = std::filesystem;

namespace {

using Seconds = std::chrono::duration<double>;

constexpr int cannot_be_built = 125;
constexpr int last_ordinary_status = 127;

std::string log_name(CommitSha const& commit, int layout) {
  return "build-" + commit.hex + (layout > 0 ? fmt::format("-layout-{}", layout) : "") + ".log";
}

/// Why a commit was not checked out, for reports.
std::string note_of(Error const& problem) {
  if (problem.code == ErrorCode::not_found)
    return "the clone is a partial one and lacks its files; `torchwatch config check` names the "
           "command that fetches them";
  return "git cannot check it out; the service's log says why (checkout_failed)";
}

/// A directory that is removed with this object.
class Scratch {
 public:
  explicit Scratch(fs::path path) : path_{std::move(path)} {
    std::error_code ignored;  // writing to it reports the error
    fs::create_directories(path_, ignored);
  }

  Scratch(Scratch const&) = delete;
  Scratch& operator=(Scratch const&) = delete;

  ~Scratch() {
    std::error_code ignored;
    remove_tree(path_, ignored);
  }

  fs::path const& path() const { return path_; }

 private:
  fs::path path_;
};

}  // namespace

RecipeBuilder::RecipeBuilder(asio::any_io_executor executor,
                             Workshop& workshop,
                             Fetcher& fetcher,
                             DiskBudget& budget,
                             storage::Store& store,
                             Clock const& clock)
    : executor_{std::move(executor)},
      source_{workshop.options().source},
      state_dir_{workshop.options().state_dir},
      budget_{budget},
      store_{store},
      clock_{clock},
      gate_{executor_, source_.builds},
      worktrees_{executor_, workshop, state_dir_ / "worktrees"},
      artifacts_{fetcher, {source_.artifacts, source_.artifacts_sha256}, source_.timeout},
      program_{executor_, workshop} {
  std::error_code ignored;  // an orphan of the last run may still be writing there
  remove_tree(state_dir_ / "work", ignored);
  fs::create_directories(state_dir_ / "builds");
  fs::create_directories(state_dir_ / "logs");
  if (!source_.artifacts.empty())
    artifacts_recipe_ = store_.recipes().with(RecipeKind::artifacts, source_.artifacts).id;
}

asio::awaitable<Result<Recipe>> RecipeBuilder::recipe(int layout) {
  Scratch const work{scratch_for("recipe")};
  auto const contents = co_await program_.contents(work.path(), layout);
  if (!contents) co_return contents.error();
  co_return store_.recipes().with(RecipeKind::program, *contents);
}

/// Returns the current recipe; fails when it is not `recipe`.
asio::awaitable<Result<Recipe>> RecipeBuilder::expect(RecipeId recipe) {
  auto const then = store_.recipes().find(recipe);
  auto now = co_await this->recipe(then ? layout_in(then->contents) : 0);
  if (!now || now->id == recipe) co_return now;
  auto const changes = differences(then ? then->contents : "", now->contents);
  co_return Error{
      ErrorCode::unavailable,
      fmt::format("the recipe, or what it builds with, has changed: {}", fmt::join(changes, ", "))};
}

/// A new name every time: a process of a killed attempt may still run for a moment.
fs::path RecipeBuilder::scratch_for(std::string const& what) const {
  auto const attempt = std::chrono::steady_clock::now().time_since_epoch().count();
  return state_dir_ / "work" / (what + "-" + std::to_string(attempt));
}

Known RecipeBuilder::known(CommitSha const& commit, RecipeId recipe) const {
  auto const attempt = recall(commit, recipe, From::anywhere);
  if (!attempt) return Known::nothing;
  return attempt->build ? Known::built : Known::unbuildable;
}

std::optional<BuildAttempt> RecipeBuilder::recall(CommitSha const& commit,
                                                  RecipeId recipe,
                                                  From from) const {
  if (from == From::anywhere && !source_.artifacts.empty()) {
    auto ready = artifacts_.find(commit);
    if (ready) return BuildAttempt{std::move(ready), "", {}, artifacts_recipe_};
    if (auto kept = recall_kept(commit, artifacts_recipe_)) return kept;
  }
  return recall_kept(commit, recipe);
}

std::optional<BuildAttempt> RecipeBuilder::recall_kept(CommitSha const& commit,
                                                       RecipeId recipe) const {
  auto const known = store_.builds().find(commit, recipe);
  if (!known) return std::nullopt;
  if (known->state == storage::BuildState::unbuildable)
    return BuildAttempt{std::nullopt, known->note};
  auto present = read_build(known->prefix);
  if (!present) return std::nullopt;
  return BuildAttempt{std::move(*present), "", {}, recipe};
}

asio::awaitable<Result<BuildAttempt>> RecipeBuilder::build(CommitSha commit,
                                                           RecipeId recipe,
                                                           From from) {
  Request request{{std::move(commit), std::nullopt}, recipe, from};
  co_return co_await get(std::move(request));
}

asio::awaitable<Result<BuildAttempt>> RecipeBuilder::build_without(CommitSha culprit,
                                                                   CommitSha onto,
                                                                   RecipeId recipe) {
  auto const history = bisect::GitHistory::open(source_.repository);
  if (!history) co_return history.error();
  auto const made = history->revert(culprit, onto);
  if (!made) co_return made.error();
  if (!*made)
    co_return BuildAttempt{std::nullopt, "git revert does not apply on " + short_of(onto)};
  Request request{
      {**made, Origin::Revert{std::move(culprit), std::move(onto)}}, recipe, From::source};
  co_return co_await get(std::move(request));
}

/// Makes requests for the same commit wait for each other.
class RecipeBuilder::Making {
 public:
  Making(RecipeBuilder& builder, CommitSha commit) : builder_{builder}, commit_{std::move(commit)} {
    auto& semaphore = builder_.in_making_[commit_];
    if (!semaphore) semaphore = std::make_shared<async::Semaphore>(builder_.executor_, 1);
    semaphore_ = semaphore;
  }

  Making(Making const&) = delete;
  Making& operator=(Making const&) = delete;

  ~Making() {
    if (semaphore_.use_count() == 2) builder_.in_making_.erase(commit_);
  }

  asio::awaitable<async::Semaphore::Pass> enter() { return semaphore_->enter(); }

 private:
  RecipeBuilder& builder_;
  CommitSha commit_;
  std::shared_ptr<async::Semaphore> semaphore_;
};

asio::awaitable<Result<BuildAttempt>> RecipeBuilder::get(Request request) {
  auto const commit = request.origin.commit;
  if (auto known = recall(commit, request.recipe, request.from)) co_return std::move(*known);
  Making making{*this, commit};
  auto const alone = co_await making.enter();
  // Another request may have made it meanwhile.
  if (auto known = recall(commit, request.recipe, request.from)) co_return std::move(*known);
  auto const place = co_await gate_.enter();
  budget_.make_space_for_another();
  auto made = co_await make(std::move(request));
  budget_.make_space();
  co_return made;
}

asio::awaitable<Result<BuildAttempt>> RecipeBuilder::make(Request request) {
  auto const commit = request.origin.commit;
  spdlog::info("build_started commit={} recipe={}", short_of(commit), request.recipe.value);
  Scratch const work{scratch_for(short_of(commit))};
  auto made = co_await make_in(work.path(), std::move(request));
  if (made && made->build)
    spdlog::info("build_finished commit={} recipe={} seconds={:.1f} incremental={}",
                 short_of(commit),
                 made->recipe.value,
                 made->cost.seconds,
                 made->cost.is_incremental);
  co_return made;
}

asio::awaitable<Result<BuildAttempt>> RecipeBuilder::make_in(fs::path work, Request request) {
  auto const& commit = request.origin.commit;
  auto const started = std::chrono::steady_clock::now();
  bool const has_recipe = !source_.repository.empty() && !source_.recipe.empty();
  if (!has_recipe && source_.artifacts.empty()) {
    co_return Error{
        ErrorCode::invalid_argument,
        "build " + short_of(commit) + ": source.repository and source.recipe are not configured"};
  }
  if (request.from == From::anywhere) {
    auto const downloaded = co_await download(commit, work);
    if (!downloaded && downloaded.error().is_of_host) co_return downloaded.error();
    if (!downloaded && !has_recipe)
      co_return give_up(
          commit, request.recipe, downloaded.error().message, outlook_of(downloaded.error()));
    if (downloaded && *downloaded) {
      Seconds const seconds = std::chrono::steady_clock::now() - started;
      BuildAttempt::Cost const cost{seconds.count(), false};
      co_return co_await keep(commit, artifacts_recipe_, **downloaded, cost);
    }
  }
  if (!has_recipe)
    co_return give_up(commit,
                      request.recipe,
                      "no artifact is there, and source.recipe is not configured",
                      Outlook::none);
  co_return co_await run_recipe(std::move(work), std::move(request));
}

asio::awaitable<Result<BuildAttempt>> RecipeBuilder::run_recipe(fs::path work, Request request) {
  auto const& commit = request.origin.commit;
  auto const started = std::chrono::steady_clock::now();
  auto const tree = worktrees_.take();
  auto const checked_out = co_await check_out(*tree, request.origin);
  if (!checked_out && checked_out.error().is_of_host) co_return checked_out.error();
  if (!checked_out) {
    // The note is published. Git's message and paths go only to the log.
    spdlog::warn(
        "checkout_failed commit={} reason=\"{}\"", short_of(commit), checked_out.error().message);
    // A missing object without a remote stays missing.
    bool const is_missing = checked_out.error().code == ErrorCode::not_found;
    co_return give_up(commit,
                      request.recipe,
                      note_of(checked_out.error()),
                      is_missing ? Outlook::none : Outlook::passing);
  }
  auto const expected = co_await expect(request.recipe);
  if (!expected) co_return expected.error();
  auto const prepared = tree->prepare_for(expected->contents);
  if (!prepared) co_return prepared.error();
  bool const is_incremental = tree->is_warm();
  int const layout = layout_in(expected->contents);
  auto const log = state_dir_ / "logs" / log_name(commit, layout);
  auto const prefix = work / "prefix";
  auto const run = co_await program_.build(commit, *tree, prefix, log, layout);
  if (!run) co_return run.error();
  auto const where = run->how + ", see " + log.string();
  if (run->status.signal == 0 && run->status.code > last_ordinary_status)
    co_return Error{ErrorCode::refused, "build " + short_of(commit) + ": recipe aborted: " + where};
  // A build takes an hour, and an update of the host may change the recipe meanwhile.
  auto const still_expected = co_await expect(request.recipe);
  if (!still_expected) co_return still_expected.error();
  if (run->status.signal != 0 || run->status.code != 0) {
    bool const forever = run->status.signal == 0 && run->status.code == cannot_be_built;
    co_return give_up(
        commit, request.recipe, "recipe: " + where, forever ? Outlook::never : Outlook::passing);
  }
  tree->warm_up();
  Seconds const seconds = std::chrono::steady_clock::now() - started;
  BuildAttempt::Cost const cost{seconds.count(), is_incremental};
  co_return co_await keep(commit, request.recipe, prefix, cost);
}

/// A partial clone first gets the files that it lacks. The files of a revert are those of commits
/// that were built before.
asio::awaitable<Result<>> RecipeBuilder::check_out(Worktree& tree, Origin origin) {
  if (!origin.revert) {
    auto const brought = co_await bring_missing_files(executor_, source_, origin.commit);
    if (!brought) co_return brought;
  }
  co_return co_await tree.check_out(std::move(origin));
}

/// Returns the downloaded prefix of the commit, or nothing. Logs an artifact that is unavailable or
/// damaged.
asio::awaitable<Result<std::optional<fs::path>>> RecipeBuilder::download(CommitSha const& commit,
                                                                         fs::path const& work) {
  auto downloaded = co_await artifacts_.download(commit, work / "artifact");
  if (!downloaded)
    spdlog::warn("artifact_not_downloaded reason=\"{}\"", downloaded.error().message);
  if (!downloaded || !*downloaded) co_return downloaded;
  auto const build = read_build(**downloaded);
  if (build && build->manifest.commit == commit) co_return downloaded;
  spdlog::warn("artifact_refused commit={} reason=\"{}\"",
               short_of(commit),
               build ? "it is of commit " + build->manifest.commit.hex : build.error().message);
  co_return std::nullopt;
}

asio::awaitable<Result<BuildAttempt>> RecipeBuilder::keep(CommitSha commit,
                                                          RecipeId recipe,
                                                          fs::path made,
                                                          BuildAttempt::Cost cost) {
  auto const build = read_build(made);
  if (!build)
    co_return give_up(commit,
                      recipe,
                      "the recipe's prefix is not valid: " + build.error().message,
                      Outlook::passing);
  if (build->manifest.commit != commit) {
    co_return give_up(commit,
                      recipe,
                      "recipe built " + build->manifest.commit.hex + " instead of this commit",
                      Outlook::passing);
  }
  auto const flushed = co_await async::flush_disk_of(executor_, made.parent_path());
  if (!flushed) co_return flushed.error();
  auto const place = state_dir_ / "builds" / (commit.hex + "-" + std::to_string(recipe.value));
  std::error_code problem;
  remove_tree(place, problem);
  fs::rename(made, place, problem);
  if (problem) {
    co_return Error{ErrorCode::internal,
                    "move " + made.string() + " to " + place.string() + ": " + problem.message()};
  }
  store_.builds().record({commit,
                          recipe,
                          storage::BuildState::built,
                          place.string(),
                          "",
                          clock_.now(),
                          cost.seconds,
                          cost.is_incremental});
  auto kept = read_build(place);  // again, because paths inside depend on the place
  if (!kept) co_return kept.error();
  co_return BuildAttempt{std::move(*kept), "", cost, recipe};
}

/// A complete archive that is damaged stays so. A server that denies access may allow it later: it
/// denies it while a file is being published.
RecipeBuilder::Outlook RecipeBuilder::outlook_of(Error const& download) {
  return download.code == ErrorCode::corrupt ? Outlook::none : Outlook::passing;
}

BuildAttempt RecipeBuilder::give_up(CommitSha const& commit,
                                    RecipeId recipe,
                                    std::string note,
                                    Outlook outlook) {
  spdlog::warn("build_skipped commit={} tried_again={} reason=\"{}\"",
               short_of(commit),
               outlook == Outlook::passing,
               note);
  if (outlook == Outlook::never) {
    store_.builds().record(
        {commit, recipe, storage::BuildState::unbuildable, "", note, clock_.now()});
  }
  BuildAttempt attempt;
  attempt.note = std::move(note);
  attempt.may_pass = outlook == Outlook::passing;
  return attempt;
}

}  // namespace torchwatch::builds
