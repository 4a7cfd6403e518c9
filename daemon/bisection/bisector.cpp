#include "daemon/bisection/bisector.h"

#include <algorithm>
#include <set>
#include <utility>

#include <spdlog/fmt/fmt.h>
#include <spdlog/spdlog.h>

#include "bisect/git/history.h"
#include "bisect/search/priors.h"
#include "daemon/bisection/build_variation.h"
#include "daemon/bisection/commit_builds.h"
#include "daemon/bisection/compare_series.h"
#include "daemon/bisection/landings.h"
#include "daemon/bisection/merges.h"
#include "daemon/bisection/nightly_packages.h"
#include "daemon/bisection/nightly_range.h"
#include "daemon/bisection/package_check.h"
#include "daemon/builds/patient_builder.h"
#include "daemon/builds/recipe.h"

namespace torchwatch::bisection {
namespace asio = boost::asio;

namespace {

constexpr int most_rests = 5;  // a series with more culprits is for people

/// Returns the error of a bisection that can never be done.
Error impossible(std::string message) {
  return Error{ErrorCode::invalid_argument, std::move(message)};
}

/// Returns the reason why the repository does not give the commits of a request now, for a report.
/// Git's message and the repository's path go only to the log.
Error unreadable(BisectionRequest const& request, Error const& error) {
  spdlog::warn("bisection_range_unreadable start={} end={} reason=\"{}\"",
               short_of(request.start),
               short_of(request.end),
               error.message);
  auto const range = "commits from " + request.start.hex + " to " + request.end.hex;
  if (error.code == ErrorCode::not_found)
    return {ErrorCode::unavailable,
            range +
                " are not all in the repository, not there with their files, or have no commit in "
                "common"};
  auto why = range + " cannot be read from the repository; the service's log shows why";
  if (error.code == ErrorCode::invalid_argument) return impossible(std::move(why));
  return {ErrorCode::unavailable, std::move(why)};
}

/// Returns the files that each suspect changed. A treeless clone does not have them.
Result<std::vector<bisect::CommitChanges>> changes_of(std::vector<Commit> const& suspects,
                                                      std::string const& repository) {
  auto const history = bisect::GitHistory::open(repository);
  if (!history) return history.error();
  std::vector<bisect::CommitChanges> changes;
  for (auto const& suspect : suspects) {
    auto touched = history->changes_of(suspect.sha);
    if (!touched) return touched.error();
    changes.push_back(std::move(*touched));
  }
  return changes;
}

/// Returns the weight of each suspect before any build is measured; equal weights where the changed
/// files are unknown.
std::vector<double> prior_of(std::vector<Commit> const& suspects,
                             BisectionRequest const& request,
                             std::string const& repository) {
  std::vector<double> const uniform(suspects.size(), 1.0);
  if (request.prior == Prior::uniform || repository.empty()) return uniform;
  auto const changes = changes_of(suspects, repository);
  if (changes) return bisect::prior_by_paths(*changes, request.series);
  spdlog::warn("bisection_prior_uniform start={} end={} reason=\"{}\"",
               short_of(request.start),
               short_of(request.end),
               changes.error().message);
  return uniform;
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

/// Returns nothing when one of the builds is missing.
std::optional<Proof::Pair> pair_of(std::vector<builds::BuildAttempt> const& attempts,
                                   std::size_t layout) {
  for (auto const& attempt : attempts)
    if (!attempt.build) return std::nullopt;
  return Proof::Pair{*attempts.front().build, *attempts.back().build, layout};
}

config::FleetOptions const* find_fleet(std::vector<config::FleetOptions> const& fleets,
                                       std::string const& name) {
  auto const found = std::ranges::find(fleets, name, &config::FleetOptions::name);
  return found == fleets.end() ? nullptr : &*found;
}

}  // namespace

asio::awaitable<Result<Bisection>> Bisector::run(Bisection bisection) {
  if (!store_.bisections().begin(bisection.id)) co_return stored(bisection.id);
  auto const& request = bisection.request;
  spdlog::info("bisection_started id={} start={} end={} series={}",
               bisection.id.value,
               short_of(request.start),
               short_of(request.end),
               request.series.size());
  auto const ended = co_await carry_out(bisection);
  if (!ended && ended.error().code != ErrorCode::invalid_argument) co_return ended.error();
  if (ended) co_await read_trunk(bisection);
  auto now = stored(bisection.id);
  if (!is_active(now.state)) co_return now;  // stopped at its very end
  bisection.state = ended ? BisectionState::done : BisectionState::failed;
  if (!ended) bisection.failure = ended.error().message;
  // Stored together: a kill leaves both or neither, so no merge is searched twice or left out.
  store_.bisections().update(bisection, bisections_into_merges(options_.source, bisection));
  spdlog::info("bisection_finished id={} outcome={} steps={} failure=\"{}\"",
               bisection.id.value,
               bisection.outcome ? to_string(*bisection.outcome) : "none",
               bisection.steps.size(),
               bisection.failure);
  co_return bisection;
}

/// Reads the newest trunk, which moved on during the bisection. A failed fetch is only logged.
asio::awaitable<void> Bisector::read_trunk(Bisection& bisection) {
  bool const names_one = std::ranges::any_of(
      bisection.findings, [](Finding const& finding) { return finding.suspects.size() == 1; });
  if (!names_one || options_.source.repository.empty()) co_return;
  co_await git_fetch_.refresh();
  note_landings(store_, options_.source, bisection);
}

Bisection Bisector::stored(BisectionId id) const {
  return store_.bisections().find(id).value();
}

asio::awaitable<Result<>> Bisector::carry_out(Bisection& bisection) {
  auto range = co_await range_of(bisection);
  if (!range) co_return range.error();
  auto const recipe = co_await builder_.recipe();
  if (!recipe) co_return recipe.error();
  begin_with(*recipe, bisection);
  bisection.ancestry = range->ancestry;
  store_.bisections().keep_commits(bisection.id, range->way.builds, range->ancestry);
  if (!options_.source.has_builds_of_commits())
    co_return co_await end_with_nights(bisection, std::move(*range));
  auto const narrowed = co_await narrow_by_nightlies(bisection, *range);
  if (!narrowed) co_return narrowed.error();
  if (bisection.outcome) co_return Result<>{};
  co_return co_await search_commits(bisection, std::move(*range));
}

/// Reads nothing from the repository before the next attempt is due.
asio::awaitable<Result<Bisector::Range>> Bisector::range_of(Bisection const& bisection) {
  auto const subject = retry_subject(bisection.id);
  auto const early = builds::postponed(store_.retries().find(subject), clock_.now());
  if (early) co_return *early;
  auto range = co_await read_range(bisection.request);
  if (!range) co_return patient(subject, range.error());
  store_.retries().forget(subject);
  co_return range;
}

/// Commits that the repository lacks for a day make the bisection fail. The record stays, so that a
/// kill before that is stored does not start another day.
Error Bisector::patient(std::string const& subject, Error problem) {
  if (problem.code != ErrorCode::unavailable || problem.is_of_host) return problem;
  auto const retry = store_.retries().note(subject, clock_.now(), problem.message);
  return is_over(retry) ? impossible(retry.reason) : problem;
}

asio::awaitable<Result<Bisector::Range>> Bisector::read_range(BisectionRequest const& request) {
  if (!options_.source.repository.empty()) {
    std::vector<CommitSha> ends{request.start, request.end};
    auto const fetched = co_await git_fetch_.ensure(std::move(ends));
    if (!fetched && fetched.error().is_of_host) co_return fetched.error();
    if (!fetched) co_return unreadable(request, fetched.error());
  }
  auto const lineage = lineage_of(request);
  if (!lineage) co_return lineage.error();
  for (auto const& series : request.series)
    if (find_fleet(options_.fleets, series.fleet) == nullptr)
      co_return impossible("no fleet is named " + series.fleet);
  auto way = bisect::way_along(*lineage);
  auto prior = prior_of(way.suspects, request, options_.source.repository);
  co_return Range{std::move(way), bisect::ancestry_of(*lineage), std::move(prior)};
}

/// Returns the commits between the ends; without a repository, those of the nightlies.
Result<bisect::Lineage> Bisector::lineage_of(BisectionRequest const& request) const {
  if (options_.source.repository.empty()) {
    auto nightlies = nightlies_between(store_.nightlies().all(), request.start, request.end);
    if (!nightlies) return impossible(nightlies.error().message);
    bisect::Lineage lineage;
    lineage.added = std::move(*nightlies);
    return lineage;
  }
  auto const history = bisect::GitHistory::open(options_.source.repository);
  if (!history) return unreadable(request, history.error());
  auto lineage = history->lineage(request.start, request.end);
  if (!lineage) return unreadable(request, lineage.error());
  return lineage;
}

/// Drops the steps that used builds of another recipe. The build variation known now is used until
/// the end.
void Bisector::begin_with(Recipe const& recipe, Bisection& bisection) {
  if (bisection.recipe == recipe.id) return;
  if (!bisection.steps.empty())
    spdlog::warn(
        "bisection_begins_again id={} reason=\"the recipe changed while the bisection ran\"",
        bisection.id.value);
  store_.bisections().begin_with(bisection.id, recipe.id, read_build_variation(store_));
  bisection.recipe = recipe.id;
  bisection.steps.clear();
}

/// Returns the variation known when the bisection began with its recipe; without a recipe, the
/// current one.
BuildVariation Bisector::build_variation_of(Bisection const& bisection) const {
  auto kept = store_.bisections().build_variation_of(bisection.id);
  return kept ? std::move(*kept) : read_build_variation(store_);
}

/// Finds the nightlies in which something changed.
asio::awaitable<Result<bisect::Search>> Bisector::search_nights(
    Bisection& bisection, Range const& range, std::vector<std::size_t> const& positions) {
  auto const& request = bisection.request;
  NightlyPackages packages{store_, bisection};
  bisect::Suspects nights{bisect::ends_of_nights(range.way.builds, positions),
                          bisect::nightly_prior(range.prior, positions)};
  bisect::Search search{
      request, std::move(nights), options_.decide, options_.bisect, build_variation_of(bisection)};
  BisectionRun run{{store_, rounds_, packages},
                   bisection,
                   std::move(search),
                   usual_cost_estimates(),
                   slots_for(request)};
  run.note_known_builds();
  auto const taken = co_await run.do_waves();
  if (!taken) co_return taken.error();
  co_return std::move(run.search());
}

/// Measures the nightlies between the ends, which need no builds. Moves the weights of the commits
/// to the nightlies in which something changed. If nothing changed, that is the outcome.
asio::awaitable<Result<>> Bisector::narrow_by_nightlies(Bisection& bisection, Range& range) {
  auto const positions = bisect::nightly_positions(
      nightlies_at_hand(bisection), bisection.request.start, range.way.builds);
  if (positions.empty()) co_return Result<>{};
  auto const nights = co_await search_nights(bisection, range, positions);
  if (!nights) co_return nights.error();
  range.prior = bisect::prior_after_nightlies(std::move(range.prior), positions, nights->changed());
  if (nights->is_unchanged()) bisection.outcome = BisectionOutcome::not_reproduced;
  co_return Result<>{};
}

/// Ends with the nightlies in which something changed, since no commit can be built.
asio::awaitable<Result<>> Bisector::end_with_nights(Bisection& bisection, Range range) {
  auto const& request = bisection.request;
  auto const known = nightlies_at_hand(bisection);
  for (auto const& end : {request.start, request.end})
    if (std::ranges::find(known, end) == known.end())
      co_return impossible(
          "no nightly's build of " + end.hex +
          " exists, and no recipe makes one (`torchwatch builds fetch` restores one)");
  auto const& builds = range.way.builds;
  auto positions = bisect::nightly_positions(known, request.start, builds);
  if (positions.empty()) positions = {0, builds.size()};
  auto nights = co_await search_nights(bisection, range, positions);
  if (!nights) co_return nights.error();
  auto findings = nights->find();
  bisection.outcome = nights->conclude(findings);
  for (auto& finding : findings) {
    finding.suspects = bisect::commits_of_nights(builds, positions, finding.suspects);
    bisect::name_suspects(range.way, finding);
  }
  bisection.findings = std::move(findings);
  co_return Result<>{};
}

std::vector<CommitSha> Bisector::nightlies_at_hand(Bisection const& bisection) const {
  return NightlyPackages{store_, bisection}.commits();
}

asio::awaitable<Result<>> Bisector::search_commits(Bisection& bisection, Range range) {
  auto const& request = bisection.request;
  CommitBuilds source{builder_, bisection.id, bisection.recipe};
  bisect::Suspects suspects{std::move(range.way.suspects), std::move(range.prior)};
  bisect::Search search{request,
                        std::move(suspects),
                        options_.decide,
                        options_.bisect,
                        build_variation_of(bisection)};
  search.go_along(range.way.builds, range.way.missing);
  BisectionRun run{{store_, rounds_, source},
                   bisection,
                   std::move(search),
                   usual_cost_estimates(),
                   slots_for(request)};
  run.pass_over(BisectionStage::nightlies);
  std::vector<CommitSha> const ends{request.start, request.end};
  auto const built = co_await run.builds_of(ends);
  if (!built) co_return built.error();
  if (auto const& last = built->back(); !last.build)
    co_return impossible("end " + ends[built->size() - 1].hex + " is unbuildable: " + last.note);
  run.note_known_builds();
  auto findings = co_await find_culprits(bisection, run);
  if (!findings) co_return findings.error();
  bisection.outcome = run.search().conclude(*findings);
  bisection.findings = std::move(*findings);
  PackageCheck check{store_, rounds_, options_.decide};
  co_return co_await check.look(bisection, *built);
}

/// Searches until there are answers. Confirms answers without a suspect in another layout.
asio::awaitable<Result<>> Bisector::search_on(Bisection const& bisection, BisectionRun& run) {
  auto const taken = co_await run.do_waves();
  if (!taken || options_.bisect.layouts < 2) co_return taken;
  auto const series = run.search().to_confirm();
  if (series.empty()) co_return Result<>{};
  auto const confirmed = co_await confirm(bisection, run.search(), series);
  if (!confirmed) co_return confirmed.error();
  co_return co_await run.do_waves();
}

/// Compares the ends, both built again, and lets the search learn from it. Where that is
/// impossible, the answers stay.
asio::awaitable<Result<>> Bisector::confirm(Bisection const& bisection,
                                            bisect::Search& search,
                                            std::vector<Series> const& series) {
  constexpr std::size_t layout = 1;
  auto const& request = bisection.request;
  auto const ends = co_await rebuilt(bisection, request.start, request.end, layout);
  if (!ends) co_return ends.error();
  if (!*ends) co_return Result<>{};
  BisectionCampaigns const campaigns{bisection.id, bisection.recipe};
  measure::BuildPair const builds{campaigns.rebuilt_ends(), (*ends)->before, (*ends)->after};
  std::vector<SeriesThreshold> asked;
  for (auto const& one : series)
    asked.push_back({one, request.threshold});
  auto const decide = bisect::to_confirm_ends(options_.decide);
  auto const results = co_await compare_series(rounds_, builds, std::move(asked), decide);
  if (!results) co_return results.error();
  for (auto const& result : *results)
    for (std::size_t i = 0; i < result.changes.size(); ++i)
      search.learn(result.changes[i].series, result.pairs[i], layout);
  spdlog::info("bisection_ends_rebuilt id={} series={} answers_stand={}",
               bisection.id.value,
               series.size(),
               search.is_over());
  co_return Result<>{};
}

/// Searches, proves the suspects, and searches again for what the proofs leave unexplained.
asio::awaitable<Result<std::vector<Finding>>> Bisector::find_culprits(Bisection const& bisection,
                                                                      BisectionRun& run) {
  std::vector<Finding> findings;
  for (int rest = 0; rest <= most_rests; ++rest) {
    auto const searched = co_await search_on(bisection, run);
    if (!searched) co_return searched.error();
    auto found = run.search().find();
    if (found.empty()) break;
    for (auto& finding : found) {
      auto const proved = co_await prove(bisection, run, finding);
      if (!proved) co_return proved.error();
      note_merge(run.search(), finding);
      spdlog::info("bisection_found id={} {}", bisection.id.value, text_of(finding));
      findings.push_back(std::move(finding));
    }
  }
  co_return findings;
}

/// Stores how many commits a lone suspect merged.
void Bisector::note_merge(bisect::Search const& search, Finding& finding) const {
  if (finding.suspects.size() > 1 || options_.source.repository.empty()) return;
  auto const position = search.position_after(finding.suspects.front().sha);
  auto const parent = search.commit_at(finding.missing > 0 ? position : position - 1);
  bisection::note_merge(options_.source, parent, finding);
}

/// Returns builds without the suspect and with it; in reverse order for a suspect that the end
/// lacks. Returns nothing when one is unavailable, or no recipe makes that layout.
asio::awaitable<Result<std::optional<Proof::Pair>>> Bisector::pair_for(Bisection const& bisection,
                                                                       BisectionRun& run,
                                                                       CommitSha suspect,
                                                                       std::size_t layout) {
  auto const position = run.search().position_after(suspect);
  auto const before = run.search().commit_at(position - 1);
  auto const after = run.search().commit_at(position);
  if (layout > 0) co_return co_await rebuilt(bisection, before, after, layout);
  std::vector<CommitSha> commits{before, after};
  auto const builds = co_await run.builds_of(std::move(commits));
  if (!builds) co_return builds.error();
  co_return pair_of(*builds, layout);
}

/// Returns two commits, built again with another layout; nothing when the recipe knows none, or one
/// of them is unbuildable.
asio::awaitable<Result<std::optional<Proof::Pair>>> Bisector::rebuilt(Bisection const& bisection,
                                                                      CommitSha before,
                                                                      CommitSha after,
                                                                      std::size_t layout) {
  auto const usual = co_await builder_.recipe();
  if (!usual) co_return usual.error();
  if (usual->id != bisection.recipe)
    co_return Error{ErrorCode::unavailable, "the recipe changed while the bisection ran"};
  auto const wanted = static_cast<int>(layout);
  auto const recipe = co_await builder_.recipe(wanted);
  if (!recipe) co_return recipe.error();
  if (builds::layout_in(recipe->contents) != wanted) co_return std::nullopt;
  std::vector<builds::BuildAttempt> attempts;
  for (auto const& commit : {before, after}) {
    auto attempt = co_await builder_.build(commit, recipe->id, builds::From::source);
    if (!attempt) co_return attempt.error();
    if (!attempt->build) co_return std::nullopt;
    attempts.push_back(std::move(*attempt));
  }
  co_return pair_of(attempts, layout);
}

/// Compares a lone suspect with its parent on all series that it is said to have changed. True when
/// both were built.
asio::awaitable<Result<bool>> Bisector::compare_with_parent(Bisection const& bisection,
                                                            BisectionRun& run,
                                                            Finding& finding,
                                                            std::size_t layout) {
  auto const suspect = finding.suspects.front();
  auto pair = co_await pair_for(bisection, run, suspect.sha, layout);
  if (!pair) co_return pair.error();
  if (!*pair) co_return false;
  Proof proof{rounds_, builder_, options_.decide};
  auto const results = co_await proof.compare_with_parent(bisection, std::move(**pair), finding);
  if (!results) co_return results.error();
  for (auto const& result : *results)
    for (std::size_t i = 0; i < result.changes.size(); ++i)
      run.search().learn(result.changes[i].series, suspect, result.pairs[i], layout);
  co_return true;
}

/// Proves a suspect. An unbuildable one stays without proof. One that is unbuildable in another
/// layout counts as proved by the usual one.
asio::awaitable<Result<>> Bisector::prove(Bisection const& bisection,
                                          BisectionRun& run,
                                          Finding& finding) {
  auto const layouts = static_cast<std::size_t>(options_.bisect.layouts);
  while (auto const layout = bisect::layout_to_compare(finding, layouts)) {
    auto const compared = co_await compare_with_parent(bisection, run, finding, *layout);
    if (!compared) co_return compared.error();
    if (!*compared && *layout == 0) co_return Result<>{};
    if (!*compared) break;
  }
  if (finding.suspects.size() == 1) run.search().explain(finding);
  if (!is_culprit(finding)) co_return Result<>{};
  Proof proof{rounds_, builder_, options_.decide};
  co_return co_await proof.check_revert(bisection, finding);
}

CostEstimates Bisector::usual_cost_estimates() const {
  constexpr int newest = 10;
  auto const& builds = store_.builds();
  return CostEstimates{builds.mean_seconds(newest, false), builds.mean_seconds(newest, true)};
}

/// Returns the number of slots of all fleets that the bisection needs.
std::size_t Bisector::slots_for(BisectionRequest const& request) const {
  std::set<std::string> fleets;
  for (auto const& series : request.series)
    fleets.insert(series.fleet);
  std::size_t slots = 0;
  for (auto const& name : fleets)
    slots += static_cast<std::size_t>(find_fleet(options_.fleets, name)->slots);
  return slots;
}

}  // namespace torchwatch::bisection
