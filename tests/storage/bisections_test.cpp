#include "storage/bisections.h"

#include <stdexcept>

#include <SQLiteCpp/SQLiteCpp.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/storage/tables.h"

namespace torchwatch::tests {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

BisectionRequest request_of() {
  BisectionRequest request;
  request.start = sha_of('a');
  request.end = sha_of('d');
  request.series = {latency_of("zoo"), latency_of("dlrm")};
  request.threshold = 0.125;
  request.direction = Direction::both;
  request.prior = Prior::paths;
  return request;
}

BisectionStep planned_step(int wave) {
  BisectionStep step;
  step.wave = wave;
  step.fleet = "local";
  step.benchmark = latency_of("dlrm").benchmark;
  step.commits = {sha_of('a'), sha_of('c'), sha_of('d')};
  step.stage = BisectionStage::nightlies;
  step.reason = "31 of 31 suspects left; expected information gain 0.84 bits in 64 s";
  return step;
}

BisectionStep done_step(int wave) {
  auto step = planned_step(wave);
  step.is_done = true;
  step.readings = {{Metric::latency, {10.0 / 3.0, 1e-300, 12}}, {Metric::cmem, {4096, 4096, 8192}}};
  step.beliefs = {{latency_of("zoo"), 0.1, sha_of('b'), sha_of('c'), 0.7},
                  {latency_of("dlrm"), 1, {}, {}, 0}};
  return step;
}

BisectionStep skipped_step(int wave) {
  auto step = planned_step(wave);
  step.is_done = true;
  step.skipped = sha_of('c');
  step.is_unbuilt = true;
  step.note = "recipe: exit status 125, last line: caf\xe9";
  return step;
}

Commit commit_of(char digit, std::optional<int> pull_request) {
  return {sha_of(digit), "Subject \"of\" it", "Ada <a@b>", early, pull_request};
}

/// A culprit with two effects, then a range with one that is not proved.
std::vector<Finding> two_findings() {
  Comparison leaks;
  leaks.verdict = Verdict::regression;
  leaks.after = 4096;
  leaks.pairs = 1;
  auto faster = slower();
  faster.verdict = Verdict::improvement;
  faster.pairs = 9;
  Finding first{{commit_of('b', 2)},
                {{latency_of("zoo"), 10, 12, 0.995, slower(), 0.75},
                 {latency_of("dlrm"), 0, 4096, 0.99, leaks, 1}}};
  Finding second{{commit_of('c', std::nullopt), commit_of('d', 4)},
                 {{latency_of("zoo"), 12, 10.0 / 3.0, 0.5, std::nullopt, 0}}};
  first.effects.front().revert_check = faster;
  first.effects.front().rebuilt = slower();
  first.effects.front().is_doubted = true;
  first.reverted_by = sha_of('e');
  first.approvers = {"ada", "carl-c"};
  second.no_revert_check = "git revert does not apply";
  second.is_gradual = true;
  first.merged = 5;
  second.missing = 1;
  return {first, second};
}

template <class T, class Expect>
void expect_each(std::vector<T> const& read, std::vector<T> const& written, Expect expect) {
  ASSERT_EQ(read.size(), written.size());
  for (std::size_t i = 0; i < written.size(); ++i)
    expect(read[i], written[i]);
}

void expect_step(BisectionStep const& read, BisectionStep const& written) {
  EXPECT_EQ(read.wave, written.wave);
  EXPECT_EQ(read.fleet, written.fleet);
  EXPECT_EQ(read.benchmark, written.benchmark);
  EXPECT_EQ(read.commits, written.commits);
  EXPECT_EQ(read.stage, written.stage);
  EXPECT_EQ(read.reason, written.reason);
  EXPECT_EQ(read.is_done, written.is_done);
  EXPECT_EQ(read.readings, written.readings);
  EXPECT_EQ(read.skipped, written.skipped);
  EXPECT_EQ(read.is_unbuilt, written.is_unbuilt);
  EXPECT_EQ(read.note, written.note);
  EXPECT_EQ(read.beliefs, written.beliefs);
}

void expect_commit(Commit const& read, Commit const& written) {
  EXPECT_EQ(read.sha, written.sha);
  EXPECT_EQ(read.subject, written.subject);
  EXPECT_EQ(read.author, written.author);
  EXPECT_EQ(read.time, written.time);
  EXPECT_EQ(read.pull_request, written.pull_request);
}

void expect_effect(Effect const& read, Effect const& written) {
  EXPECT_EQ(read.series, written.series);
  EXPECT_EQ(read.before, written.before);
  EXPECT_EQ(read.after, written.after);
  EXPECT_EQ(read.probability, written.probability);
  EXPECT_EQ(read.share, written.share);
  ASSERT_EQ(read.proof.has_value(), written.proof.has_value());
  if (written.proof) expect_same(*read.proof, *written.proof);
  ASSERT_EQ(read.revert_check.has_value(), written.revert_check.has_value());
  if (written.revert_check) expect_same(*read.revert_check, *written.revert_check);
  ASSERT_EQ(read.rebuilt.has_value(), written.rebuilt.has_value());
  if (written.rebuilt) expect_same(*read.rebuilt, *written.rebuilt);
  EXPECT_EQ(read.is_doubted, written.is_doubted);
}

void expect_finding(Finding const& read, Finding const& written) {
  expect_each(read.suspects, written.suspects, expect_commit);
  expect_each(read.effects, written.effects, expect_effect);
  EXPECT_EQ(read.no_revert_check, written.no_revert_check);
  EXPECT_EQ(read.is_gradual, written.is_gradual);
  EXPECT_EQ(read.missing, written.missing);
  EXPECT_EQ(read.merged, written.merged);
  EXPECT_EQ(read.reverted_by, written.reverted_by);
  EXPECT_EQ(read.approvers, written.approvers);
  EXPECT_EQ(read.earlier.has_value(), written.earlier.has_value());
}

void expect_steps(Bisection const& read, std::vector<BisectionStep> const& written) {
  expect_each(read.steps, written, expect_step);
}

void expect_findings(Bisection const& read, std::vector<Finding> const& written) {
  expect_each(read.findings, written, expect_finding);
}

class BisectionsTest : public TablesTest {
 protected:
  Bisection ask() { return store.bisections().ask(request_of(), std::nullopt, early); }

  Bisection ask(BisectionState state) {
    auto bisection = ask();
    bisection.state = state;
    store.bisections().update(bisection);
    return bisection;
  }

  Bisection find(BisectionId id) { return store.bisections().find(id).value(); }

  void run_sql(std::string const& sql) {
    SQLite::Database{folder.database().string(), SQLite::OPEN_READWRITE}.exec(sql);
  }
};

TEST_F(BisectionsTest, ABisectionIsReadAsItWasRequested) {
  auto const asked = ask();

  auto const read = find(asked.id);

  EXPECT_EQ(read.request.start, sha_of('a'));
  EXPECT_EQ(read.request.end, sha_of('d'));
  EXPECT_THAT(read.request.series, ElementsAre(latency_of("zoo"), latency_of("dlrm")));
  EXPECT_EQ(read.request.threshold, 0.125);
  EXPECT_EQ(read.request.direction, Direction::both);
  EXPECT_EQ(read.request.prior, Prior::paths);
  EXPECT_EQ(read.state, BisectionState::queued);
  EXPECT_EQ(read.incident, std::nullopt);
  EXPECT_EQ(read.outcome, std::nullopt);
  EXPECT_THAT(read.steps, IsEmpty());
  EXPECT_THAT(read.findings, IsEmpty());
  EXPECT_EQ(read.failure, "");
  EXPECT_EQ(read.asked_at, early);
}

TEST_F(BisectionsTest, CommitsReplaceEarlierCommits) {
  auto const asked = ask();
  EXPECT_THAT(store.bisections().commits_of(asked.id), IsEmpty());
  Commit const first{sha_of('b'), "Make it slower (#1)", "Ada <ada@example.org>", early, 1};
  Commit const second{sha_of('d'), "", "", early, std::nullopt};

  store.bisections().keep_commits(asked.id, {second});
  store.bisections().keep_commits(asked.id, {first, second});

  auto const read = store.bisections().commits_of(asked.id);
  ASSERT_EQ(read.size(), 2U);
  EXPECT_EQ(read.at(0).sha, first.sha);
  EXPECT_EQ(read.at(0).subject, first.subject);
  EXPECT_EQ(read.at(0).pull_request, 1);
  EXPECT_EQ(read.at(1).pull_request, std::nullopt);
}

TEST_F(BisectionsTest, AncestryIsStoredWithTheCommits) {
  auto const asked = ask();
  EXPECT_EQ(find(asked.id).ancestry, std::nullopt);
  Ancestry const ancestry{sha_of('b'), 5, 2};
  store.bisections().keep_commits(asked.id, {}, ancestry);
  EXPECT_EQ(find(asked.id).ancestry, ancestry);
  store.bisections().update(asked);
  EXPECT_EQ(find(asked.id).ancestry, ancestry);
  store.bisections().keep_commits(asked.id, {});
  EXPECT_EQ(find(asked.id).ancestry, std::nullopt);
}

class BisectionsIntoMergesTest : public BisectionsTest {
 protected:
  /// A bisection of the merge that `two_findings` names first.
  Bisection into_merge_of(Bisection const& outer) {
    Bisection inner;
    inner.request = request_of();
    inner.request.start = sha_of('8');
    inner.asked_at = early;
    inner.inside = SearchedMerge{outer.id, sha_of('b'), 5};
    return inner;
  }

  Bisection ended() {
    auto bisection = ask();
    bisection.state = BisectionState::done;
    bisection.findings = two_findings();
    return bisection;
  }
};

TEST_F(BisectionsIntoMergesTest, AreQueuedWithTheEndOfTheOther) {
  auto const outer = ended();
  store.bisections().update(outer, {into_merge_of(outer)});

  auto const queued = store.bisections().unfinished();
  ASSERT_EQ(queued.size(), 1U);
  EXPECT_EQ(queued[0].inside, (SearchedMerge{outer.id, sha_of('b'), 5}));
  EXPECT_EQ(queued[0].request.start, sha_of('8'));
  EXPECT_EQ(queued[0].request.series, request_of().series);
  EXPECT_EQ(queued[0].asked_at, early);
  auto const read = find(outer.id);
  EXPECT_EQ(read.inside, std::nullopt);
  EXPECT_EQ(read.findings.at(0).searched_by, queued[0].id);
  EXPECT_EQ(read.findings.at(1).searched_by, std::nullopt);
}

TEST_F(BisectionsIntoMergesTest, AreQueuedOnceForAMerge) {
  auto const outer = ended();
  store.bisections().update(outer, {into_merge_of(outer)});
  EXPECT_THROW(store.bisections().update(outer, {into_merge_of(outer)}), SQLite::Exception);
  EXPECT_EQ(store.bisections().unfinished().size(), 1U);
}

TEST_F(BisectionsTest, ListsProofsInTwoLayoutsNewestFirst) {
  std::vector<BisectionId> ids;
  for (int i = 0; i < 3; ++i) {
    auto bisection = ask();
    bisection.findings = two_findings();
    store.bisections().begin_with(
        bisection.id, store.recipes().with(RecipeKind::program, "recipe").id, {});
    store.bisections().update(bisection);
    ids.push_back(bisection.id);
  }
  auto const proved = store.bisections().proved_twice(2);
  ASSERT_EQ(proved.size(), 2U);
  EXPECT_EQ(proved[0].bisection, ids[2]);
  EXPECT_EQ(proved[1].bisection, ids[1]);
  EXPECT_EQ(proved[0].suspect, sha_of('b'));
  EXPECT_EQ(proved[0].series, latency_of("zoo"));
  EXPECT_EQ(proved[0].recipe, find(ids[2]).recipe);
}

/// Series on two fleets and memory, all compared in two layouts.
Finding long_finding() {
  auto const effect_on = [](std::string const& fleet, std::string const& model, Metric metric) {
    Effect effect{latency_of(model), 10, 12, 0.99, slower(), 1};
    effect.series.fleet = fleet;
    effect.series.metric = metric;
    effect.rebuilt = slower();
    return effect;
  };
  return {{commit_of('b', 2)},
          {effect_on("gpu", "zoo", Metric::gmem),
           effect_on("local", "zoo", Metric::latency),
           effect_on("local", "dlrm", Metric::latency),
           effect_on("gpu", "dlrm", Metric::latency)}};
}

TEST_F(BisectionsTest, AProofInTwoLayoutsCountsOnceForEachFleet) {
  for (int i = 0; i < 2; ++i) {
    auto bisection = ask();
    bisection.findings = {long_finding()};
    store.bisections().update(bisection);
  }
  auto const proved = store.bisections().proved_twice(1);
  ASSERT_EQ(proved.size(), 2U);
  EXPECT_EQ(proved[0].series.fleet, "gpu");
  EXPECT_EQ(proved[0].series.benchmark.model, "dlrm");
  EXPECT_EQ(proved[1].series, latency_of("zoo"));
  EXPECT_EQ(proved[0].bisection, proved[1].bisection) << "the newest";
}

TEST_F(BisectionsTest, StepsAreReadAsTheyWerePlanned) {
  auto const bisection = ask();
  auto const other = ask();

  store.bisections().plan(bisection.id, {planned_step(0), planned_step(0)});
  store.bisections().plan(other.id, {planned_step(5)});
  store.bisections().plan(bisection.id, {planned_step(1)});

  expect_steps(find(bisection.id), {planned_step(0), planned_step(0), planned_step(1)});
  expect_steps(find(other.id), {planned_step(5)});
}

TEST_F(BisectionsTest, AStepIsReadAsItWasDone) {
  auto const bisection = ask();
  store.bisections().plan(bisection.id, {planned_step(0), planned_step(0), planned_step(0)});

  store.bisections().finish(bisection.id, 2, done_step(0));
  store.bisections().finish(bisection.id, 1, skipped_step(0));

  expect_steps(find(bisection.id), {planned_step(0), skipped_step(0), done_step(0)});
}

TEST_F(BisectionsTest, StepsArePlannedAllOrNone) {
  auto const bisection = ask();
  run_sql(
      "CREATE TRIGGER disk_is_full BEFORE INSERT ON bisection_step WHEN NEW.ordinal = 1 "
      "BEGIN SELECT RAISE(ABORT, 'disk is full'); END");

  EXPECT_THROW(store.bisections().plan(bisection.id, {planned_step(0), planned_step(0)}),
               SQLite::Exception);

  EXPECT_THAT(find(bisection.id).steps, IsEmpty());
}

TEST_F(BisectionsTest, StepsOfAnUnknownBisectionAreRefused) {
  EXPECT_THROW(store.bisections().plan(BisectionId{7}, {planned_step(0)}), SQLite::Exception);
}

TEST_F(BisectionsTest, ABisectionIsReadAsItEnded) {
  auto bisection = ask();
  bisection.state = BisectionState::done;
  bisection.outcome = BisectionOutcome::range;
  bisection.findings = two_findings();
  bisection.failure = "note";

  store.bisections().update(bisection);

  auto const read = find(bisection.id);
  EXPECT_EQ(read.state, BisectionState::done);
  EXPECT_EQ(read.outcome, BisectionOutcome::range);
  expect_findings(read, two_findings());
  EXPECT_EQ(read.failure, "note");
}

TEST_F(BisectionsTest, EarlierIncidentIsReadWithItsNightlyAndReport) {
  auto const baseline = announce("2026-01-01", 'a');
  auto const nightly = announce("2026-01-02", 'b');
  auto const incident = store.incidents().open(baseline, nightly, early);
  auto bisection = ask();
  bisection.findings = two_findings();
  bisection.findings.back().earlier = EarlierIncident{incident.id, "", ""};
  store.bisections().update(bisection);
  store.incidents().reported(incident.id, "https://github.com/o/r/issues/7");

  auto const read = find(bisection.id);

  EXPECT_FALSE(read.findings.front().earlier);
  auto const earlier = read.findings.back().earlier.value();
  EXPECT_EQ(earlier.id, incident.id);
  EXPECT_EQ(earlier.date, "2026-01-02");
  EXPECT_EQ(earlier.report, "https://github.com/o/r/issues/7") << "as it is known now";
}

TEST_F(BisectionsTest, AnUpdateReplacesTheFindingsAndKeepsTheSteps) {
  auto bisection = ask();
  auto other = ask();
  other.findings = bisection.findings = two_findings();
  store.bisections().update(bisection);
  store.bisections().update(other);
  store.bisections().plan(bisection.id, {planned_step(0)});

  bisection.findings = {two_findings().back()};
  store.bisections().update(bisection);

  expect_findings(find(bisection.id), {two_findings().back()});
  expect_steps(find(bisection.id), {planned_step(0)});
  expect_findings(find(other.id), two_findings());
}

TEST_F(BisectionsTest, AnUpdateThatFailsChangesNothing) {
  auto bisection = ask();
  bisection.findings = two_findings();
  store.bisections().update(bisection);
  run_sql(
      "CREATE TRIGGER disk_is_full BEFORE INSERT ON bisection_effect "
      "BEGIN SELECT RAISE(ABORT, 'disk is full'); END");

  bisection.state = BisectionState::done;
  bisection.findings.pop_back();
  EXPECT_THROW(store.bisections().update(bisection), SQLite::Exception);

  EXPECT_EQ(find(bisection.id).state, BisectionState::queued);
  expect_findings(find(bisection.id), two_findings());
}

TEST_F(BisectionsTest, UnfinishedAreThoseQueuedOrRunningOldestFirst) {
  using enum BisectionState;
  auto const incident =
      store.incidents().open(announce("2026-01-01", 'a'), announce("2026-01-02", 'b'), early);
  auto const queued_one = ask(queued);
  for (auto const state : {paused, cancelled, done, failed})
    ask(state);
  auto const running_one = ask(running);
  auto const of_incident = store.bisections().ask(request_of(), incident.id, early);
  store.bisections().plan(running_one.id, {planned_step(0)});

  auto const unfinished = store.bisections().unfinished();

  ASSERT_EQ(unfinished.size(), 3U);
  EXPECT_EQ(unfinished[0].id, queued_one.id);
  EXPECT_EQ(unfinished[1].id, running_one.id);
  EXPECT_EQ(unfinished[1].state, running);
  EXPECT_EQ(unfinished[1].request.series.size(), 2U);
  expect_steps(unfinished[1], {planned_step(0)});
  EXPECT_EQ(unfinished[2].id, of_incident.id);
  EXPECT_EQ(unfinished[2].incident, incident.id);
}

TEST_F(BisectionsTest, ThoseThatHaveNotEndedAreQueuedRunningOrPausedNewestFirst) {
  using enum BisectionState;
  std::vector<BisectionId> expected;
  for (auto const state : {queued, done, paused, cancelled, running, failed}) {
    auto const id = ask(state).id;
    if (state == queued || state == paused || state == running)
      expected.insert(expected.begin(), id);
  }
  std::vector<BisectionId> found;
  for (auto const& bisection : store.bisections().not_ended())
    found.push_back(bisection.id);
  EXPECT_EQ(found, expected);
}

TEST_F(BisectionsTest, StepsAreCounted) {
  auto const bisection = ask();
  store.bisections().plan(bisection.id, {planned_step(0), planned_step(1), planned_step(1)});
  store.bisections().finish(bisection.id, 1, done_step(0));
  auto const tally = store.bisections().count_steps(bisection.id);
  EXPECT_EQ(tally.planned, 3);
  EXPECT_EQ(tally.done, 1);
}

TEST_F(BisectionsTest, BisectionsOfAnIncidentAreReadApart) {
  auto const incident =
      store.incidents().open(announce("2026-01-01", 'a'), announce("2026-01-02", 'b'), early);
  auto const own = store.bisections().ask(request_of(), incident.id, early);
  auto const other = ask();

  ASSERT_EQ(store.bisections().of_incident(incident.id).size(), 1U);
  EXPECT_EQ(store.bisections().of_incident(incident.id).front().id, own.id);
  EXPECT_EQ(store.bisections().all_in_brief().front().id, other.id);
}

TEST_F(BisectionsTest, BisectionsOfAnIncidentAreReadInBriefWithoutTheirSteps) {
  auto const incident =
      store.incidents().open(announce("2026-01-01", 'a'), announce("2026-01-02", 'b'), early);
  auto const own = store.bisections().ask(request_of(), incident.id, early);
  store.bisections().plan(own.id, {planned_step(0)});

  ASSERT_EQ(store.bisections().of_incident(incident.id).at(0).steps.size(), 1U);
  auto const brief = store.bisections().of_incident_in_brief(incident.id);
  ASSERT_EQ(brief.size(), 1U);
  EXPECT_EQ(brief[0].id, own.id);
  EXPECT_EQ(brief[0].request.series, own.request.series);
  EXPECT_TRUE(brief[0].steps.empty());
}

TEST_F(BisectionsTest, ABisectionBeginsUnlessAUserStoppedIt) {
  using enum BisectionState;
  auto const other = ask();
  for (auto const state : {queued, running}) {
    auto const bisection = ask(state);
    EXPECT_TRUE(store.bisections().begin(bisection.id));
    EXPECT_EQ(find(bisection.id).state, running);
  }
  for (auto const state : {paused, cancelled, done, failed}) {
    auto const bisection = ask(state);
    EXPECT_FALSE(store.bisections().begin(bisection.id));
    EXPECT_EQ(find(bisection.id).state, state);
  }
  EXPECT_FALSE(store.bisections().begin(BisectionId{99}));
  EXPECT_EQ(find(other.id).state, queued);
}

TEST_F(BisectionsTest, ABisectionIsPausedResumedAndCancelled) {
  using enum BisectionState;
  auto bisection = ask(running);
  bisection.findings = two_findings();
  store.bisections().update(bisection);
  for (auto const state : {paused, queued, paused, cancelled}) {
    EXPECT_TRUE(store.bisections().set_state(bisection.id, state));
    EXPECT_EQ(find(bisection.id).state, state);
  }
  expect_findings(find(bisection.id), two_findings());
}

TEST_F(BisectionsTest, TheStateOfAFinishedBisectionStays) {
  using enum BisectionState;
  auto const other = ask();
  for (auto const state : {done, failed, cancelled}) {
    auto const bisection = ask(state);
    EXPECT_FALSE(store.bisections().set_state(bisection.id, queued));
    EXPECT_EQ(find(bisection.id).state, state);
  }
  EXPECT_FALSE(store.bisections().set_state(BisectionId{99}, paused));
  EXPECT_EQ(find(other.id).state, queued);
}

class CorruptStepTest : public BisectionsTest, public ::testing::WithParamInterface<std::string> {};

TEST_P(CorruptStepTest, IsRefusedByItsColumn) {
  auto const bisection = ask();
  store.bisections().plan(bisection.id, {done_step(0)});
  for (std::string const column : {"commits", "readings", "beliefs"}) {
    run_sql("UPDATE bisection_step SET commits = '[]', readings = '[]', beliefs = '[]'");
    EXPECT_EQ(find(bisection.id).steps.size(), 1U);
    run_sql("UPDATE bisection_step SET " + column + " = '" + GetParam() + "'");
    try {
      find(bisection.id);
      ADD_FAILURE() << "nothing was thrown for " << column;
    } catch (std::runtime_error const& problem) {
      EXPECT_THAT(problem.what(), HasSubstr("corrupt list in column " + column));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Json,
    CorruptStepTest,
    ::testing::Values("", "[", "null", "{}", "7", "[7]", "[null]", R"([{"metric":"speed"}])"));

TEST_F(BisectionsTest, AStepWithDeepJsonIsAnError) {
  auto const bisection = ask();
  store.bisections().plan(bisection.id, {done_step(0)});
  auto const deep = std::string(100'000, '[') + std::string(100'000, ']');
  run_sql("UPDATE bisection_step SET beliefs = '" + deep + "'");

  EXPECT_THAT([&] { find(bisection.id); },
              ::testing::ThrowsMessage<std::runtime_error>(
                  HasSubstr("column beliefs JSON nested deeper than 32 levels")));
}

TEST_F(BisectionsTest, ABisectionBeginsAgainWithAnotherRecipe) {
  auto const bisection = ask();
  auto const other = ask();
  EXPECT_EQ(find(bisection.id).recipe, RecipeId{});
  EXPECT_FALSE(store.bisections().build_variation_of(bisection.id));
  store.bisections().begin_with(bisection.id, RecipeId{1}, {{"cpu", 0.02}, {"gpu", 0.0}});
  EXPECT_THAT(store.bisections().build_variation_of(bisection.id).value(),
              ElementsAre(Pair("cpu", 0.02), Pair("gpu", 0.0)));
  for (auto const id : {bisection.id, other.id})
    store.bisections().plan(id, {planned_step(0), planned_step(1)});

  store.bisections().begin_with(bisection.id, RecipeId{2}, {{"cpu", 0.03}});

  EXPECT_EQ(find(bisection.id).recipe, RecipeId{2});
  EXPECT_THAT(find(bisection.id).steps, IsEmpty());
  EXPECT_THAT(store.bisections().build_variation_of(bisection.id).value(),
              ElementsAre(Pair("cpu", 0.03)));
  EXPECT_EQ(find(other.id).recipe, RecipeId{});
  expect_steps(find(other.id), {planned_step(0), planned_step(1)});
}

class ReportedBisectionsTest : public BisectionsTest {
 protected:
  IncidentId open() {
    return store.incidents()
        .open(announce("2026-01-01", 'a'), announce("2026-01-02", 'b'), early)
        .id;
  }

  Bisection ask_for(IncidentId incident, BisectionState state) {
    auto bisection = store.bisections().ask(request_of(), incident, early);
    bisection.state = state;
    store.bisections().update(bisection);
    return bisection;
  }

  std::vector<BisectionId> unreported(IncidentId incident) {
    std::vector<BisectionId> ids;
    for (auto const& bisection : store.bisections().unreported(incident))
      ids.push_back(bisection.id);
    return ids;
  }
};

TEST_F(ReportedBisectionsTest, AnyEndIsUnreportedUntilAnEventHasIt) {
  auto const incident = open();
  auto const done = ask_for(incident, BisectionState::done);
  auto const failed = ask_for(incident, BisectionState::failed);
  auto const cancelled = ask_for(incident, BisectionState::cancelled);
  ask_for(incident, BisectionState::running);
  ask_for(incident, BisectionState::paused);
  ask();
  EXPECT_THAT(unreported(incident), ElementsAre(done.id, failed.id, cancelled.id));

  IncidentEvent event;
  event.incident = incident;
  event.kind = IncidentEventKind::explained;
  event.bisections = {done.id, cancelled.id};
  store.incident_events().add(event, {});

  EXPECT_THAT(unreported(incident), ElementsAre(failed.id));
  EXPECT_THAT(store.incident_events().of(incident).at(0).bisections,
              ElementsAre(done.id, cancelled.id));
}

TEST_F(BisectionsTest, PackagesAreReadAsTheyWereCompared) {
  auto bisection = ask();
  EXPECT_FALSE(find(bisection.id).packages);
  bisection.outcome = BisectionOutcome::environment;
  bisection.packages =
      Packages{{"- gcc 12", "+ gcc 13, caf\xe9"}, {{latency_of("dlrm"), slower()}}};
  store.bisections().update(bisection);

  auto const read = find(bisection.id);

  EXPECT_EQ(read.outcome, BisectionOutcome::environment);
  ASSERT_TRUE(read.packages);
  EXPECT_EQ(read.packages->differences, bisection.packages->differences);
  ASSERT_EQ(read.packages->changes.size(), 1U);
  EXPECT_EQ(read.packages->changes.front().series, latency_of("dlrm"));
  expect_same(read.packages->changes.front().comparison, slower());

  bisection.packages = Packages{};
  store.bisections().update(bisection);
  ASSERT_TRUE(find(bisection.id).packages);
  EXPECT_THAT(find(bisection.id).packages->differences, IsEmpty());
  EXPECT_THAT(find(bisection.id).packages->changes, IsEmpty());
  bisection.packages.reset();
  store.bisections().update(bisection);
  EXPECT_FALSE(find(bisection.id).packages);
}

}  // namespace
}  // namespace torchwatch::tests
