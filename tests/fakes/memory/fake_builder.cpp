#include "tests/fakes/memory/fake_builder.h"

#include <fstream>
#include <utility>

#include <nlohmann/json.hpp>

#include "daemon/builds/manifest.h"
#include "daemon/builds/recipe.h"

namespace torchwatch::fakes {
namespace asio = boost::asio;
namespace fs = std::filesystem;

using builds::BuildAttempt;
using builds::Known;

Build FakeBuilder::deliver(fs::path const& prefix,
                           CommitSha const& commit,
                           std::string const& date) {
  fs::create_directories(prefix);
  nlohmann::json const manifest{
      {"commit", commit.hex}, {"date", date}, {"version", "2.9.0+" + commit.hex.substr(0, 7)}};
  std::ofstream{prefix / "build.json"} << manifest.dump();
  return builds::read_build(prefix).value();
}

asio::awaitable<Result<Recipe>> FakeBuilder::recipe(int layout) {
  bool const is_usual = layout == 0 || !has_layouts;
  if (!is_usual && forgets_layouts)
    co_return store_.recipes().with(RecipeKind::program, "the program alone\n");
  co_return store_.recipes().with(
      RecipeKind::program, is_usual ? contents : contents + "layout " + std::to_string(layout));
}

asio::awaitable<Result<BuildAttempt>> FakeBuilder::build(CommitSha commit,
                                                         RecipeId recipe,
                                                         builds::From from) {
  bool const is_artifact = from == builds::From::anywhere && artifacts.contains(commit);
  auto const by =
      is_artifact ? store_.recipes().with(RecipeKind::artifacts, "/srv/{commit}").id : recipe;
  co_return get(commit, by);
}

asio::awaitable<Result<BuildAttempt>> FakeBuilder::build_without(CommitSha culprit,
                                                                 CommitSha onto,
                                                                 RecipeId recipe) {
  if (host_failure) co_return *host_failure;
  if (!reverts_apply)
    co_return BuildAttempt{std::nullopt, "git revert does not apply on " + short_of(onto)};
  CommitSha const without{onto.hex.substr(0, 20) + culprit.hex.substr(0, 20)};
  reverted[without] = {culprit, onto};
  co_return make(without, recipe);
}

bool FakeBuilder::is_broken(CommitSha const& commit, RecipeId recipe) const {
  if (broken.contains(commit)) return true;
  auto const made_by = store_.recipes().find(recipe);
  return breaks_other_layouts && made_by && builds::layout_in(made_by->contents) > 0;
}

Result<BuildAttempt> FakeBuilder::get(CommitSha const& commit, RecipeId recipe) {
  tried.push_back(commit);
  bool const must_fail = fails_now.contains(commit) || is_broken(commit, recipe);
  if (auto const known = store_.builds().find(commit, recipe); known && !must_fail)
    if (auto build = builds::read_build(known->prefix))
      return BuildAttempt{std::move(*build), "", {}, recipe};
  if (host_failure) return *host_failure;
  budget_.make_space_for_another();
  auto attempt = make(commit, recipe);
  budget_.make_space();
  return attempt;
}

bool FakeBuilder::fails_this_time(CommitSha const& commit) {
  auto const left = failures_left.find(commit);
  if (left == failures_left.end() || left->second == 0) return fails_now.contains(commit);
  --left->second;
  return true;
}

BuildAttempt FakeBuilder::make(CommitSha const& commit, RecipeId recipe) {
  if (fails_this_time(commit)) {
    BuildAttempt failed{std::nullopt, "recipe: exit status 1"};
    failed.may_pass = true;
    return failed;
  }
  if (is_broken(commit, recipe)) {
    storage::BuildRecord record;
    record.commit = commit;
    record.recipe = recipe;
    record.state = storage::BuildState::unbuildable;
    record.note = why_broken;
    record.finished_at = clock_.now();
    store_.builds().record(record);
    return BuildAttempt{std::nullopt, record.note};
  }
  before(commit);
  auto const prefix = folder_ / (commit.hex + "-" + std::to_string(recipe.value));
  auto build = deliver(prefix, commit);
  std::ofstream{prefix / "libtorch_cpu.so"};
  fs::resize_file(prefix / "libtorch_cpu.so", static_cast<std::uintmax_t>(bytes));
  store_.builds().record({commit,
                          recipe,
                          storage::BuildState::built,
                          prefix.string(),
                          "",
                          clock_.now(),
                          seconds,
                          false});
  made.push_back(commit);
  return BuildAttempt{std::move(build), "", {seconds, false}, recipe};
}

Known FakeBuilder::known(CommitSha const& commit, RecipeId recipe) const {
  auto const known = store_.builds().find(commit, recipe);
  if (!known) return Known::nothing;
  if (known->state == storage::BuildState::unbuildable) return Known::unbuildable;
  return builds::read_build(known->prefix) ? Known::built : Known::nothing;
}

}  // namespace torchwatch::fakes
