#include <fstream>
#include <map>
#include <set>
#include <thread>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "bisect/git/history.h"
#include "tests/e2e/dependencies.h"
#include "tests/e2e/expect.h"

// Nightlies that another system built, one directory for each.
namespace torchwatch::e2e {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class DirectoryFeed : public testing::Test {
 protected:
  explicit DirectoryFeed(WorldOptions const& options = {}) : world_{options} {
    auto const nightlies = world_.directory() / "nightlies";
    for (auto const& nightly : world_.truth().at("nightlies"))
      build(world_, nightly, nightlies / nightly.at("date"));
    world_.configure({{"feed", {{"kind", "directory"}, {"path", nightlies.string()}}}});
  }

  fs::path prefix_of(std::size_t nightly) const {
    return world_.directory() / "nightlies" /
           world_.truth().at("nightlies").at(nightly).at("date").get<std::string>();
  }

  /// Patches what the scripted worker reports for a build.
  void patch_script(std::size_t nightly, json const& patch) {
    auto const file = prefix_of(nightly) / "script.json";
    auto script = json::parse(text_of(file));
    script.at("benchmarks").merge_patch(patch);
    std::ofstream{file} << script;
  }

  void set_date(std::size_t nightly, std::string const& date) {
    auto const file = prefix_of(nightly) / "build.json";
    auto build = json::parse(text_of(file));
    build.at("date") = date;
    std::ofstream{file} << build;
  }

  void set_version(std::size_t nightly, std::string const& version) {
    auto const file = prefix_of(nightly) / "build.json";
    auto build = json::parse(text_of(file));
    build["version"] = version;
    std::ofstream{file} << build;
  }

  /// Adds a copy of the first nightly with the date 2026-01-`days`, whose dcgan takes `ms` to
  /// train.
  void add_later(int days, double ms) {
    auto const first = prefix_of(0);
    auto const prefix = world_.directory() / "nightlies" / ("later-" + std::to_string(days));
    fs::copy(first, prefix, fs::copy_options::recursive);
    auto script = json::parse(text_of(prefix / "script.json"));
    script.at("benchmarks").at("test_train[dcgan-cpu-eager]").at("latency") = ms;
    std::ofstream{prefix / "script.json"} << script;
    auto build = json::parse(text_of(prefix / "build.json"));
    build.at("commit") = fmt::format("{:02}", days) + std::string(38, 'c');
    build.at("date") = fmt::format("2026-01-{:02}", days);
    std::ofstream{prefix / "build.json"} << build;
  }

  /// Runs a check. Returns the open alarms.
  json alarms() { return json::parse(world_.run({"check", "--json"}).out).at("alarms"); }

  World world_;
};

TEST_F(DirectoryFeed, LeadsToTheSameCulprit) {
  expect_truth(world_, world_.run({"check", "--json"}));
}

WorldOptions without_culprit() {
  WorldOptions options;
  options.scenario = "no-change";
  return options;
}

class UnchangedFeed : public DirectoryFeed {
 protected:
  UnchangedFeed() : DirectoryFeed{without_culprit()} {}
};

TEST_F(UnchangedFeed, PrintsAVersionWithLineBreaksOnOneLine) {
  set_version(1, "2.9\nfound:     forged\u202e");
  auto const check = world_.run({"check"});
  EXPECT_EQ(check.status, 0) << check.err;
  EXPECT_THAT(check.out, HasSubstr("  2.9\\nfound:     forged\\u202e  "));
  EXPECT_THAT(check.out, HasSubstr("\nfound:     nothing\n"));
}

TEST_F(UnchangedFeed, IsAnErrorWhenAnEmptyOrOlderOneReplacesIt) {
  ASSERT_EQ(world_.run({"check"}).status, 0);
  auto const other = world_.directory() / "other";
  fs::create_directory(other);
  world_.configure({{"feed", {{"path", other.string()}}}});
  auto const empty = world_.run({"check"});
  EXPECT_EQ(empty.status, 2);
  EXPECT_THAT(empty.out, IsEmpty());
  EXPECT_THAT(empty.err, HasSubstr("feed " + other.string() + ": it has no nightly"));

  fs::copy(prefix_of(0), other / "older", fs::copy_options::recursive);
  auto const older = world_.run({"check"});
  EXPECT_EQ(older.status, 2);
  EXPECT_THAT(older.out, IsEmpty());
  EXPECT_THAT(older.err, HasSubstr("its newest nightly is of"));
}

// For example, a nightly is packaged with another library.
TEST_F(UnchangedFeed, BlamesNoCommitForAChangeOfThePackage) {
  const auto* const name = "test_eval[dcgan-cpu-eager]";
  double const usual =
      json::parse(text_of(prefix_of(1) / "script.json")).at("benchmarks").at(name).at("latency");
  patch_script(1, {{name, {{"latency", 1.3 * usual}}}});
  auto const check = world_.run({"check", "--json"});
  EXPECT_EQ(check.status, 1) << check.err;
  auto const answer = expect_answer(check);
  EXPECT_THAT(answer.moved, testing::ElementsAre(std::string{name} + "_latency"));
  ASSERT_THAT(answer.bisections, SizeIs(1));
  EXPECT_EQ(answer.bisections.front().outcome, "environment");
  EXPECT_THAT(answer.bisections.front().findings, IsEmpty());
  auto const incident = json::parse(check.out).at("incidents").at(0);
  EXPECT_THAT(text_of(incident.at("report").get<std::string>()),
              HasSubstr("Nothing visible in the two builds explains it"));
}

TEST_F(DirectoryFeed, BisectsArtifactsWhenTheRecipeFails) {
  auto const artifacts = world_.directory() / "artifacts";
  auto const history = bisect::GitHistory::open((world_.lab() / "repository").string());
  auto const& nightlies = world_.truth().at("nightlies");
  auto const start = nightlies.at(0).at("commit").get<std::string>();
  auto const end = nightlies.at(1).at("commit").get<std::string>();
  build(world_, nightlies.at(0), artifacts / start);
  for (auto const& commit : history.value().commits_between({start}, {end}).value())
    build(world_, {{"commit", commit.sha.hex}, {"date", "2025-09-03"}}, artifacts / commit.sha.hex);
  auto const no_recipe = world_.directory() / "no-recipe";
  std::ofstream{no_recipe} << "#!/bin/sh\nexit 1\n";
  fs::permissions(no_recipe, fs::perms::owner_all);
  world_.configure(
      {{"source",
        {{"recipe", no_recipe.string()}, {"artifacts", (artifacts / "{commit}").string()}}}});
  auto const answer = expect_answer(world_.run({"check", "--json"}));
  ASSERT_THAT(answer.bisections, SizeIs(1));
  expect_culprit(world_, answer.bisections.front());
}

TEST_F(DirectoryFeed, NightliesBetweenTheEndsAreBisectedBeforeCommits) {
  auto const history = bisect::GitHistory::open((world_.lab() / "repository").string());
  auto const& nightlies = world_.truth().at("nightlies");
  auto const start = nightlies.at(0).at("commit").get<std::string>();
  auto const end = nightlies.at(1).at("commit").get<std::string>();
  auto const commits = history.value().commits_between({start}, {end}).value();
  std::map<std::string, std::string> const between{{"2025-09-03", commits.at(9).sha.hex},
                                                   {"2025-09-04", commits.at(23).sha.hex}};
  for (auto const& [date, commit] : between)
    build(world_,
          {{"commit", commit}, {"date", date}},
          world_.directory() / "nightlies" / ("between-" + date));
  set_date(1, "2025-09-05");
  auto const source = json::parse(text_of(world_.config_file())).at("source");
  world_.configure({{"source", nullptr}, {"feed", {{"backlog", 10}}}});
  auto const check = world_.run({"check"});
  ASSERT_EQ(check.status, 1) << check.out;
  ASSERT_THAT(check.out, HasSubstr("earlier:   2025-09-04"))
      << "the newest nightly has the same level";
  world_.configure({{"source", source}});

  auto const bisected = world_.run({"bisect",
                                    "--json",
                                    "--start",
                                    start,
                                    "--end",
                                    end,
                                    "--benchmark",
                                    "test_eval[dcgan-cpu-eager]"});

  ASSERT_EQ(bisected.status, 1) << bisected.err;
  auto const bisection = json::parse(bisected.out);
  expect_culprit(world_, bisection_of(bisection));
  std::set<std::string> const packages{
      start, between.at("2025-09-03"), between.at("2025-09-04"), end};
  std::set<std::string> const suspects = [&] {
    std::set<std::string> all;
    for (std::size_t i = 10; i < 24; ++i)
      all.insert(commits.at(i).sha.hex);
    return all;
  }();
  EXPECT_EQ(bisection.at("steps").front().at("stage"), "nightlies");
  EXPECT_EQ(bisection.at("steps").back().at("stage"), "commits");
  std::set<std::string> built;
  for (auto const& step : bisection.at("steps")) {
    for (std::string const commit : step.at("commits")) {
      if (step.at("stage") == "nightlies")
        EXPECT_TRUE(packages.contains(commit)) << step;
      else
        built.insert(commit);
    }
  }
  built.erase(start);
  built.erase(end);
  for (auto const& commit : built)
    EXPECT_TRUE(suspects.contains(commit) || packages.contains(commit)) << bisected.err;
  EXPECT_LE(built.size(), 6) << bisected.err;
}

TEST_F(DirectoryFeed, ReportsTheIncidentWithoutBisectionWhenThereIsNoSource) {
  world_.configure({{"source", nullptr}});
  auto const check = world_.run({"check", "--json"});
  EXPECT_EQ(check.status, 1) << check.err;
  auto const answer = expect_answer(check);
  EXPECT_EQ(answer.moved, planted_series(world_.truth()));
  EXPECT_TRUE(answer.bisections.empty());
  auto const incident = nlohmann::json::parse(check.out).at("incidents").at(0);
  auto const report = text_of(incident.at("report").get<std::string>());
  EXPECT_NE(report.find("No bisection is possible"), std::string::npos) << report;
}

TEST_F(DirectoryFeed, ABenchmarkThatANightlyBreaksIsAnAlarm) {
  patch_script(1, {{"test_train[dcgan-cpu-eager]", {{"behave", "crash"}}}});
  auto const raised = alarms();
  ASSERT_THAT(raised, SizeIs(1));
  EXPECT_EQ(raised.at(0).at("kind"), "benchmark_stopped");
  EXPECT_EQ(raised.at(0).at("subject"), "local: test_train[dcgan-cpu-eager]");
  EXPECT_THAT(raised.at(0).at("detail").get<std::string>(), HasSubstr("SIGSEGV"));
}

TEST_F(DirectoryFeed, ANightlyWithoutAnyResultIsAnAlarmUntilTheNext) {
  json broken;
  for (auto const* const model : {"dcgan", "lennard_jones"})
    for (auto const* const test : {"train", "eval"})
      broken["test_" + std::string{test} + "[" + model + "-cpu-eager]"] = {{"behave", "crash"}};
  patch_script(1, broken);
  auto const raised = alarms();
  ASSERT_THAT(raised, SizeIs(1)) << raised;
  EXPECT_EQ(raised.at(0).at("kind"), "nightly_failed");
  EXPECT_THAT(raised.at(0).at("detail").get<std::string>(), HasSubstr("none of 8 jobs"));

  add_later(1, 20);
  for (auto const& alarm : alarms())
    EXPECT_NE(alarm.at("kind"), "nightly_failed") << alarm;
}

TEST_F(DirectoryFeed, AHostThatChangedIsAnAlarmNotAnIncident) {
  auto const later = prefix_of(1);
  auto const aside = world_.directory() / "aside";
  fs::rename(later, aside);
  EXPECT_THAT(alarms(), IsEmpty());
  // Both builds take twice as long in this check.
  fs::rename(aside, later);
  fs::copy_file(
      prefix_of(0) / "script.json", later / "script.json", fs::copy_options::overwrite_existing);
  json slower;
  for (auto const* const model : {"dcgan", "lennard_jones"})
    for (auto const* const test : {"train", "eval"})
      slower["test_" + std::string{test} + "[" + model + "-cpu-eager]"] = {{"latency", 40.0}};
  for (std::size_t const nightly : {0U, 1U})
    patch_script(nightly, slower);

  auto const check = world_.run({"check", "--json"});

  EXPECT_EQ(check.status, 0) << check.err;
  auto const raised = json::parse(check.out).at("alarms");
  ASSERT_THAT(raised, SizeIs(1));
  EXPECT_EQ(raised.at(0).at("kind"), "environment");
  EXPECT_EQ(raised.at(0).at("subject"), "local");
  EXPECT_THAT(raised.at(0).at("detail").get<std::string>(), HasSubstr("latency in 4 of 4 series"));
}

TEST_F(DirectoryFeed, AMissingNightlyIsAnAlarm) {
  world_.configure({{"feed", {{"overdue_s", 1}}}});
  EXPECT_THAT(alarms(), IsEmpty());
  std::this_thread::sleep_for(std::chrono::milliseconds{2100});
  auto const raised = alarms();
  ASSERT_THAT(raised, SizeIs(1));
  EXPECT_EQ(raised.at(0).at("kind"), "missing_nightly");
  EXPECT_EQ(raised.at(0).at("subject"), nullptr);
}

TEST_F(DirectoryFeed, ManySmallStepsAreAnAlarmThatAcceptingEnds) {
  fs::remove_all(prefix_of(1));
  world_.configure({{"decide", {{"anchor_nights", 2}}}});
  EXPECT_THAT(alarms(), IsEmpty());
  double ms = 20;
  int nights = 0;
  json raised = json::array();
  std::string log;
  while (raised.empty() && nights < 10) {
    add_later(++nights, ms *= 1.025);
    auto const check = world_.run({"check", "--json"});
    ASSERT_EQ(check.status, 0) << "a single step is not an incident\n" << check.err;
    log = check.err;
    raised = json::parse(check.out).at("alarms");
    std::erase_if(raised.get_ref<json::array_t&>(),
                  [](json const& alarm) { return alarm.at("kind") != "drift"; });
  }
  ASSERT_THAT(raised, SizeIs(1)) << log;
  EXPECT_GE(nights, 3) << "the alarm came below 7%";
  EXPECT_LE(nights, 6) << "the alarm came only above 15%";
  EXPECT_EQ(raised.at(0).at("subject"), "local: test_train[dcgan-cpu-eager]_latency");
  EXPECT_THAT(raised.at(0).at("detail").get<std::string>(),
              HasSubstr("from nightly " + prefix_of(0).filename().string()));

  auto const accepted = world_.run({"rule",
                                    "accept",
                                    "--benchmark",
                                    "test_train[dcgan-cpu-eager]",
                                    "--who",
                                    "ada",
                                    "--why",
                                    "safer"});
  ASSERT_EQ(accepted.status, 0) << accepted.err;
  for (int more = 1; more <= 2; ++more) {
    add_later(nights + more, ms);
    for (auto const& alarm : alarms())
      EXPECT_NE(alarm.at("kind"), "drift") << alarm;
  }
}

TEST_F(DirectoryFeed, OneLargeStepIsAnIncidentAndNoDrift) {
  fs::remove_all(prefix_of(1));
  world_.configure({{"decide", {{"anchor_nights", 1}}}, {"source", nullptr}});
  alarms();
  add_later(1, 20);
  alarms();
  add_later(2, 30);

  auto const check = world_.run({"check", "--json"});

  EXPECT_EQ(check.status, 1) << check.err;
  EXPECT_THAT(check.err, HasSubstr("campaign=anchor/")) << "the anchor was not measured";
  auto const answer = json::parse(check.out);
  for (auto const& alarm : answer.at("alarms"))
    EXPECT_NE(alarm.at("kind"), "drift") << alarm;
}

}  // namespace
}  // namespace torchwatch::e2e
