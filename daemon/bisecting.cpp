#include "daemon/bisecting.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <utility>

#include <spdlog/fmt/fmt.h>
#include <spdlog/spdlog.h>

#include "bisect/git_history.h"
#include "bisect/ladder.h"
#include "bisect/prior.h"
#include "daemon/async/all.h"
#include "daemon/build_manifest.h"
#include "daemon/packaging.h"

namespace torchwatch {
namespace asio = boost::asio;

namespace {

constexpr int most_rests = 5;  // a series with more culprits is for people

/// This search cannot be done, now or later.
Error impossible(std::string message) {
  return Error{ErrorCode::invalid_argument, std::move(message)};
}

/// What each suspect weighs before anything is read.
Result<std::vector<double>> prior_of(std::vector<Commit> const& suspects,
                                     BisectionRequest const& request,
                                     bisect::GitHistory const& history) {
  if (request.prior == Prior::uniform) return std::vector<double>(suspects.size(), 1.0);
  std::vector<bisect::CommitChanges> changes;
  for (auto const& suspect : suspects) {
    auto touched = history.changes_of(suspect.sha);
    if (!touched) return touched.error();
    changes.push_back(std::move(*touched));
  }
  return bisect::prior_by_paths(changes, request.series);
}

bool is_asked_for(Verdict verdict, Direction direction) {
  if (verdict == Verdict::regression) return direction != Direction::decrease;
  return verdict == Verdict::improvement && direction != Direction::increase;
}

/// Whether it is known how such builds are made.
bool is_ours(Recipe const& recipe) {
  return recipe.id.value > 0 && recipe.kind == RecipeKind::program;
}

std::string text_of(Finding const& finding) {
  auto const& suspects = finding.suspects;
  auto text = fmt::format("suspects={} first={}", suspects.size(), short_of(suspects.front().sha));
  for (auto const& effect : finding.effects)
    text += fmt::format(" {}:{:.4g}->{:.4g}({:.0f}%)",
                        name_of(effect.series),
                        effect.before,
                        effect.after,
                        100 * effect.share);
  return text;
}

std::string text_of(BisectionStep const& step) {
  std::string text =
      fmt::format("turn={} benchmark={} commits=", step.turn, name_of(step.benchmark));
  for (auto const& commit : step.commits)
    text += (text.ends_with('=') ? "" : ",") + short_of(commit);
  if (step.skipped) text += " skipped=" + short_of(*step.skipped);
  for (auto const& belief : step.beliefs)
    if (belief.series.benchmark == step.benchmark)
      text += fmt::format(" {}:no_change={:.3f},{}..{}={:.3f}",
                          to_string(belief.series.metric),
                          belief.no_change,
                          short_of(belief.first),
                          short_of(belief.last),
                          belief.probability);
  return text;
}

}  // namespace

asio::awaitable<Result<Bisection>> Bisecting::run(Bisection bisection) {
  if (!store_.bisections().begin(bisection.id)) co_return stored(bisection.id);
  auto const& request = bisection.request;
  spdlog::info("bisection_started id={} start={} end={} series={}",
               bisection.id.value,
               short_of(request.start),
               short_of(request.end),
               request.series.size());
  auto const ended = co_await search(bisection);
  if (!ended && ended.error().code != ErrorCode::invalid_argument) co_return ended.error();
  auto now = stored(bisection.id);
  if (!is_active(now.state)) co_return now;  // stopped at its very end
  bisection.state = ended ? BisectionState::done : BisectionState::failed;
  if (!ended) bisection.failure = ended.error().message;
  store_.bisections().update(bisection);
  spdlog::info("bisection_finished id={} outcome={} steps={} failure=\"{}\"",
               bisection.id.value,
               bisection.outcome ? to_string(*bisection.outcome) : "none",
               bisection.steps.size(),
               bisection.failure);
  co_return bisection;
}

Bisection Bisecting::stored(BisectionId id) const {
  return store_.bisections().find(id).value();
}

asio::awaitable<Result<>> Bisecting::search(Bisection& bisection) {
  auto const& request = bisection.request;
  std::vector<CommitSha> ends{request.start, request.end};
  auto const fetched = co_await fetching_.ensure(std::move(ends));
  if (!fetched && fetched.error().code == ErrorCode::unavailable) co_return fetched;
  if (!fetched) co_return impossible(fetched.error().message);
  auto history = bisect::GitHistory::open(options_.source.repository);
  if (!history) co_return impossible(history.error().message);
  auto suspects = history->commits_between(request.start, request.end);
  if (!suspects) co_return impossible(suspects.error().message);
  for (auto const& series : request.series)
    if (fleets_.find(series.fleet) == nullptr)
      co_return impossible("no fleet is named " + series.fleet);
  auto prior = prior_of(*suspects, request, *history);
  if (!prior) co_return impossible(prior.error().message);
  auto const recipe = co_await builder_.recipe();
  if (!recipe) co_return recipe.error();
  begin_with(*recipe, bisection);
  Range range{std::move(*suspects), std::move(*prior)};
  auto const narrowed = co_await search_nightlies(bisection, range);
  if (!narrowed) co_return narrowed.error();
  if (bisection.outcome) co_return Result<>{};
  co_return co_await search_commits(bisection, std::move(range));
}

/// What another recipe built is forgotten.
void Bisecting::begin_with(Recipe const& recipe, Bisection& bisection) {
  if (bisection.recipe == recipe.id) return;
  if (!bisection.steps.empty())
    spdlog::warn("bisection_begins_again id={} reason=\"commits are built otherwise now\"",
                 bisection.id.value);
  store_.bisections().begin_with(bisection.id, recipe.id);
  bisection.recipe = recipe.id;
  bisection.steps.clear();
}

/// Nightlies between the ends are there, and commits would have to be built: asks them first in
/// which nights something changed, and moves the weights of the commits there. When nothing did,
/// that is the outcome.
asio::awaitable<Result<>> Bisecting::search_nightlies(Bisection& bisection, Range& range) {
  auto const& request = bisection.request;
  auto packages = this->packages(bisection.recipe);
  std::vector<CommitSha> nightlies;
  for (auto const& [commit, prefix] : packages)
    nightlies.push_back(commit);
  auto const rungs = bisect::rungs(nightlies, request.start, range.suspects);
  if (rungs.empty()) co_return Result<>{};
  std::vector<Commit> suspects;
  for (std::size_t i = 1; i < rungs.size(); ++i)
    suspects.push_back(range.suspects[rungs[i] - 1]);
  Run run{bisection,
          bisect::Search{request,
                         std::move(suspects),
                         bisect::nights_of(range.prior, rungs),
                         options_.decide,
                         options_.bisect},
          usual_costs(),
          slots_for(request)};
  run.stage = BisectionStage::nightlies;
  run.packages = std::move(packages);
  for (std::size_t rung = 0; rung < rungs.size(); ++rung)
    run.costs.built(rung);
  auto const asked = co_await ask(run);
  if (!asked) co_return asked.error();
  range.prior = bisect::weigh_by_rungs(std::move(range.prior), rungs, run.search.changed());
  if (run.search.is_unchanged()) bisection.outcome = BisectionOutcome::not_reproduced;
  co_return Result<>{};
}

/// What nightlies came with, by commit; builds by the search's own recipe are found anyway.
std::map<CommitSha, std::string> Bisecting::packages(RecipeId recipe) const {
  std::map<CommitSha, std::string> packages;
  for (auto const& nightly : store_.nightlies().all()) {
    auto const known = store_.builds().find(nightly.commit, recipe);
    if (nightly.prefix.empty() || (known && known->prefix == nightly.prefix)) continue;
    packages[nightly.commit] = nightly.prefix;
  }
  return packages;
}

SearchCosts Bisecting::usual_costs() const {
  constexpr int newest = 10;
  auto const& builds = store_.builds();
  return SearchCosts{builds.mean_seconds(newest, false), builds.mean_seconds(newest, true)};
}

asio::awaitable<Result<>> Bisecting::search_commits(Bisection& bisection, Range range) {
  auto const& request = bisection.request;
  Run run{bisection,
          bisect::Search{request,
                         std::move(range.suspects),
                         std::move(range.prior),
                         options_.decide,
                         options_.bisect},
          usual_costs(),
          slots_for(request)};
  auto const& steps = bisection.steps;
  while (run.done < steps.size() && steps[run.done].stage == BisectionStage::nightlies)
    run.search.begin_at(steps[run.done++].turn + 1);
  auto const built = co_await build_ends(run);
  if (!built) co_return built.error();
  note_builds(run);
  std::vector<Finding> findings;
  for (int rest = 0; rest <= most_rests; ++rest) {
    auto const asked = co_await ask(run);
    if (!asked) co_return asked.error();
    auto found = run.search.find();
    if (found.empty()) break;
    for (auto& finding : found) {
      auto const proved = co_await prove(run, finding);
      if (!proved) co_return proved.error();
      spdlog::info("bisection_found id={} {}", bisection.id.value, text_of(finding));
      findings.push_back(std::move(finding));
    }
  }
  bisection.outcome = run.search.conclude(findings);
  bisection.findings = std::move(findings);
  co_return co_await look_at_packages(run);
}

/// All slots of the fleets that the search needs.
std::size_t Bisecting::slots_for(BisectionRequest const& request) {
  std::map<std::string, std::size_t> slots;
  for (auto const& series : request.series)
    slots[series.fleet] = static_cast<std::size_t>(fleets_.find(series.fleet)->slots());
  std::size_t sum = 0;
  for (auto const& [fleet, count] : slots)
    sum += count;
  return sum;
}

asio::awaitable<Result<>> Bisecting::build_ends(Run& run) {
  std::vector<CommitSha> ends{run.bisection.request.start, run.bisection.request.end};
  auto const built = co_await build_alike(run, ends);
  if (!built) co_return built.error();
  auto const& last = built->back();
  if (last.build) co_return Result<>{};
  co_return impossible("end " + ends[built->size() - 1].hex + " cannot be built: " + last.note);
}

/// Builds that differ by nothing but their commits, made by one recipe: artifacts say nothing
/// beside builds of ours. Ends with the first that cannot be had.
asio::awaitable<Result<std::vector<BuildAttempt>>> Bisecting::build_alike(
    Run& run, std::vector<CommitSha> commits) {
  std::array const places{Builder::From::anywhere, Builder::From::source};
  std::vector<BuildAttempt> attempts;
  for (auto const from : places) {
    attempts.clear();
    for (auto const& commit : commits) {
      auto attempt = co_await build(run, commit, from);
      if (!attempt) co_return attempt.error();
      attempts.push_back(std::move(*attempt));
      if (!attempts.back().build) co_return attempts;
    }
    auto const differ =
        std::ranges::adjacent_find(attempts, std::ranges::not_equal_to{}, &BuildAttempt::recipe);
    if (differ == attempts.end()) break;
  }
  co_return attempts;
}

/// Builds a commit, and learns what that costs.
asio::awaitable<Result<BuildAttempt>> Bisecting::build(Run& run,
                                                       CommitSha commit,
                                                       Builder::From from) {
  auto const position = run.search.position_of(commit);
  auto attempt = co_await builder_.build(std::move(commit), run.bisection.recipe, from);
  if (attempt && attempt->build)
    run.costs.built(position, attempt->cost.seconds, attempt->cost.is_incremental);
  if (attempt && !attempt->build) run.costs.failed(position);
  co_return attempt;
}

/// What need not be built, or never will be, is known before it is asked for.
void Bisecting::note_builds(Run& run) const {
  auto const last = run.search.position_of(run.bisection.request.end);
  for (std::size_t position = 0; position <= last; ++position) {
    auto const known = builder_.known(run.search.commit_at(position), run.bisection.recipe);
    if (known == Known::built) run.costs.built(position);
    if (known == Known::unbuildable) run.costs.failed(position);
  }
}

/// Takes turns until every series has its answer.
asio::awaitable<Result<>> Bisecting::ask(Run& run) {
  while (!run.search.is_over()) {
    auto const& steps = run.bisection.steps;
    if (run.done == steps.size()) plan_turn(run);
    if (run.done == steps.size() || steps[run.done].stage != run.stage)
      break;  // nothing tells any more
    auto const taken = co_await take_turn(run);
    if (!taken) co_return taken.error();
  }
  co_return Result<>{};
}

void Bisecting::plan_turn(Run& run) {
  auto steps = run.search.next(run.costs.costs(builder_.is_warm()), run.slots);
  for (auto& step : steps)
    step.stage = run.stage;
  store_.bisections().plan(run.bisection.id, steps);
  run.bisection.steps.insert(run.bisection.steps.end(), steps.begin(), steps.end());
}

/// Does what is left of a planned turn, then learns from all of it.
asio::awaitable<Result<>> Bisecting::take_turn(Run& run) {
  auto& steps = run.bisection.steps;
  auto const turn = steps[run.done].turn;
  auto end = run.done;
  while (end < steps.size() && steps[end].turn == turn)
    ++end;
  std::vector<Result<>> results(end - run.done);
  std::vector<asio::awaitable<void>> tasks;
  for (auto i = run.done; i < end; ++i)
    if (!steps[i].is_done) tasks.push_back(do_step(run, i, results[i - run.done]));
  co_await run_all(std::move(tasks));
  for (auto const& result : results)
    if (!result) co_return result.error();
  for (auto i = run.done; i < end; ++i) {
    auto const& skipped = steps[i].skipped;
    run.search.learn(steps[i], skipped && is_unbuildable(run, *skipped));
  }
  for (auto i = run.done; i < end; ++i) {
    if (!steps[i].beliefs.empty()) continue;  // told before the search was cut off
    steps[i].beliefs = run.search.beliefs();
    store_.bisections().finish(run.bisection.id, i, steps[i]);
    spdlog::info("bisection_step id={} {}", run.bisection.id.value, text_of(steps[i]));
  }
  run.done = end;
  co_return Result<>{};
}

bool Bisecting::is_unbuildable(Run const& run, CommitSha const& commit) const {
  if (run.stage == BisectionStage::nightlies) return !read_build(run.packages.at(commit));
  return builder_.known(commit, run.bisection.recipe) == Known::unbuildable;
}

asio::awaitable<void> Bisecting::do_step(Run& run, std::size_t ordinal, Result<>& result) {
  auto builds = co_await builds_for(run, ordinal);
  if (!builds) {
    result = builds.error();
    co_return;
  }
  if (!run.bisection.steps[ordinal].skipped) co_await measure(run, ordinal, std::move(*builds));
  auto& step = run.bisection.steps[ordinal];
  step.is_done = true;
  store_.bisections().finish(run.bisection.id, ordinal, step);
}

/// The builds of a step's commits; if one cannot be had, the step says so.
asio::awaitable<Result<std::vector<Build>>> Bisecting::builds_for(Run& run, std::size_t ordinal) {
  auto const commits = run.bisection.steps[ordinal].commits;
  Result<std::vector<BuildAttempt>> attempts = std::vector<BuildAttempt>{};
  if (run.stage == BisectionStage::nightlies)
    attempts = packages_of(run, commits);
  else
    attempts = co_await build_alike(run, commits);
  if (!attempts) co_return attempts.error();
  std::vector<Build> builds;
  for (auto& attempt : *attempts) {
    if (attempt.build) {
      builds.push_back(std::move(*attempt.build));
      continue;
    }
    auto& step = run.bisection.steps[ordinal];
    step.skipped = commits[builds.size()];
    step.note = attempt.note;
  }
  co_return builds;
}

/// What the nightlies of these commits came with, up to the first that cannot be read.
std::vector<BuildAttempt> Bisecting::packages_of(Run const& run,
                                                 std::vector<CommitSha> const& commits) {
  std::vector<BuildAttempt> attempts;
  for (auto const& commit : commits) {
    auto package = read_build(run.packages.at(commit));
    if (!package) {
      attempts.push_back({std::nullopt, package.error().message});
      break;
    }
    attempts.push_back({std::move(*package), ""});
  }
  return attempts;
}

asio::awaitable<void> Bisecting::measure(Run& run, std::size_t ordinal, std::vector<Build> builds) {
  bool const of_nightlies = run.stage == BisectionStage::nightlies;
  RoundKey key{campaign_of(run.bisection.id, run.bisection.recipe) +
                   (of_nightlies ? "/nightlies" : "/search"),
               run.bisection.steps[ordinal].benchmark,
               static_cast<int>(ordinal)};
  auto lease = co_await fleets_.find(run.bisection.steps[ordinal].fleet)->lease();
  auto const outcomes = co_await measuring_.round(lease, std::move(key), std::move(builds));
  auto& step = run.bisection.steps[ordinal];
  for (auto const& outcome : outcomes) {
    run.costs.measured(outcome.seconds);
    // An end that cannot be measured is the last thing to say.
    if (outcome.ok() || (step.skipped && run.search.is_end(outcome.key.commit))) continue;
    step.skipped = outcome.key.commit;
    step.note = "could not be measured: " + outcome.error_code + " " + outcome.error;
  }
  if (step.skipped) co_return;
  for (auto const metric : run.search.metrics_of(step))
    if (auto levels = levels_in(outcomes, metric))
      step.readings.push_back({metric, std::move(*levels)});
}

/// Measures a lone suspect against its parent, on all series that it is said to have changed.
asio::awaitable<Result<>> Bisecting::prove(Run& run, Finding& finding) {
  if (finding.suspects.size() > 1) co_return Result<>{};
  auto const culprit = finding.suspects.front().sha;
  auto const parent = run.search.commit_at(run.search.position_of(culprit) - 1);
  std::vector<CommitSha> pair{parent, culprit};
  auto const builds = co_await build_alike(run, std::move(pair));
  if (!builds) co_return builds.error();
  if (!builds->back().build) co_return Result<>{};  // stays without proof
  auto const comparisons = co_await proving_.prove(
      run.bisection, *builds->front().build, *builds->back().build, finding);
  for (auto const& comparison : comparisons)
    for (std::size_t i = 0; i < comparison.changes.size(); ++i)
      run.search.learn(comparison.changes[i].series, parent, culprit, comparison.pairs[i]);
  run.search.explain(finding);
  if (!is_culprit(finding)) co_return Result<>{};
  co_return co_await proving_.check_revert(run.bisection, finding);
}

/// Where the nightlies at the ends came with other builds than the search's, tells what these
/// differ by. When no commit is to blame and they do differ, though not by one recipe, then what
/// they are made of made the difference.
asio::awaitable<Result<>> Bisecting::look_at_packages(Run& run) {
  auto& bisection = run.bisection;
  auto const& request = bisection.request;
  auto const before = delivered(bisection, request.start);
  auto const after = delivered(bisection, request.end);
  if (!before || !after) co_return Result<>{};
  std::vector<CommitSha> commits{request.start, request.end};
  auto const ends = co_await build_alike(run, std::move(commits));
  if (!ends) co_return ends.error();
  bool const are_the_same = ends->back().build && ends->front().build->prefix == before->prefix &&
                            ends->back().build->prefix == after->prefix;
  if (are_the_same) co_return Result<>{};
  auto const old_recipe = recipe_of(*before).value_or(Recipe{});
  auto const new_recipe = recipe_of(*after).value_or(Recipe{});
  Packages packages{
      differences(packaging_of(*before, old_recipe), packaging_of(*after, new_recipe)), {}};
  if (bisection.outcome == BisectionOutcome::not_reproduced) {
    packages.changes = co_await proving_.compare_packages(bisection, *before, *after);
    bool const differ = std::ranges::any_of(packages.changes, [&](SeriesChange const& change) {
      return is_asked_for(change.comparison.verdict, request.direction);
    });
    bool const are_alike = old_recipe.id == new_recipe.id && is_ours(old_recipe);
    if (differ && !are_alike) bisection.outcome = BisectionOutcome::environment;
  }
  bool const has_news = !packages.differences.empty() || !packages.changes.empty();
  if (has_news) bisection.packages = std::move(packages);
  co_return Result<>{};
}

/// The build that the nightly at an end came with, if it is still there: the incident's nightly, or
/// the newest of the commit.
std::optional<Build> Bisecting::delivered(Bisection const& bisection,
                                          CommitSha const& commit) const {
  std::optional<Build> newest;
  auto const incident =
      bisection.incident ? store_.incidents().find(*bisection.incident) : std::nullopt;
  for (auto const& nightly : store_.nightlies().all()) {
    if (nightly.commit != commit || nightly.prefix.empty()) continue;
    if (incident && nightly.id != incident->baseline && nightly.id != incident->nightly) continue;
    if (auto build = read_build(nightly.prefix)) newest = std::move(*build);
  }
  return newest;
}

/// By which recipe a build was made, where that is known.
std::optional<Recipe> Bisecting::recipe_of(Build const& build) const {
  auto const known = store_.builds().find_at(build.prefix);
  return known ? store_.recipes().find(known->recipe) : std::nullopt;
}

}  // namespace torchwatch
