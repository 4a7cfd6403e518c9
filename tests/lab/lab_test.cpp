#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "tests/lab/generated_lab.h"
#include "tests/lab/scenario_names.h"

namespace torchwatch::lab {
namespace {

using testing::EndsWith;
using testing::HasSubstr;

int const no_libtorch = 129;

std::string text(json const& value) {
  return value.get<std::string>();
}

std::vector<std::string> shas(std::vector<Seen> const& commits) {
  std::vector<std::string> result;
  for (auto const& commit : commits)
    result.push_back(commit.sha);
  return result;
}

std::string first_match(std::string const& text, std::string const& pattern) {
  std::smatch match;
  return std::regex_search(text, match, std::regex{pattern}) ? match[1].str() : "";
}

/// Builds the commit at `position`. Returns the numbers of all benchmarks in its script.
json benchmarks(Lab const& lab, std::size_t position) {
  EXPECT_EQ(lab.build(lab.between().at(position - 1).sha), 0);
  return read_json(lab.scratch.path / "prefix/script.json")["benchmarks"];
}

/// Returns the lab of a scenario. A process generates it once; tests read it and build its commits.
Lab const& lab_of(std::string const& scenario) {
  static std::map<std::string, Lab> labs;
  return labs.try_emplace(scenario, scenario, Contents::scripted).first->second;
}

class EveryScenario : public testing::TestWithParam<char const*> {
 protected:
  Lab const& lab_ = lab_of(GetParam());
};

TEST_P(EveryScenario, HasAtLeastThirtyTwoCommitsBetweenItsNightlies) {
  EXPECT_GE(lab_.between().size(), 32U);
  EXPECT_EQ(lab_.truth["commits"], lab_.between().size());
  EXPECT_EQ(text(lab_.truth["scenario"]), GetParam());
}

TEST_P(EveryScenario, LandsStacksAtOneInstantAndNothingOutOfOrder) {
  auto const commits = lab_.between();
  int stacked = 0;
  for (std::size_t i = 1; i < commits.size(); ++i) {
    EXPECT_LE(commits[i - 1].time, commits[i].time);
    if (commits[i - 1].time != commits[i].time) continue;
    ++stacked;
    EXPECT_THAT(commits[i].message, HasSubstr("\nghstack-source-id: "));
  }
  EXPECT_GE(stacked, 4);
}

TEST_P(EveryScenario, NamesThePullRequestOfEveryCommit) {
  std::set<std::string> numbers;
  for (auto const& commit : lab_.between()) {
    if (commit.subject().starts_with("Revert ")) continue;
    auto const number = first_match(commit.subject(), R"(\(#(\d+)\)$)");
    EXPECT_THAT(commit.message,
                HasSubstr("\nPull Request resolved: https://github.com/pytorch/pytorch/pull/" +
                          number + "\n"));
    EXPECT_THAT(commit.message, HasSubstr("\nApproved by: https://github.com/"));
    EXPECT_TRUE(numbers.insert(number).second) << commit.subject();
  }
}

TEST_P(EveryScenario, RevertsNameTheRevertedCommitAndItsPullRequest) {
  std::map<std::string, std::string> subjects;
  int reverts = 0;
  for (auto const& commit : lab_.trunk) {
    if (commit.subject().starts_with("Revert ")) {
      ++reverts;
      auto const reverted =
          first_match(commit.message, R"(\n\nThis reverts commit ([0-9a-f]{40})\.\n)");
      ASSERT_TRUE(subjects.contains(reverted));
      EXPECT_EQ(commit.subject(), "Revert \"" + subjects[reverted] + "\"");
      auto const number = first_match(subjects[reverted], R"(\(#(\d+)\)$)");
      EXPECT_THAT(commit.message,
                  HasSubstr("\nReverted https://github.com/pytorch/pytorch/pull/" + number +
                            " on behalf of https://github.com/"));
    }
    subjects[commit.sha] = commit.subject();
  }
  EXPECT_EQ(reverts, 2);
}

TEST_P(EveryScenario, ReleasesANightlyADayWithTheTreeOfItsTrunkCommit) {
  ASSERT_EQ(lab_.nightly.size(), 2U);
  EXPECT_EQ(lab_.nightly[1].time - lab_.nightly[0].time, 24 * 3600);
  std::map<std::string, std::string> trees;
  for (auto const& commit : lab_.trunk)
    trees[commit.sha] = commit.tree;
  for (std::size_t i = 0; i < 2; ++i) {
    auto const& nightly = lab_.truth["nightlies"][i];
    auto const trunk = text(nightly["commit"]);
    EXPECT_EQ(lab_.nightly[i].subject(),
              text(nightly["date"]) + " nightly release (" + trunk + ")");
    EXPECT_EQ(lab_.nightly[i].sha, text(nightly["release_commit"]));
    EXPECT_EQ(lab_.nightly[i].tree, trees.at(trunk));
  }
  EXPECT_EQ(text(lab_.truth["nightlies"][1]["commit"]), lab_.trunk.back().sha);
}

TEST_P(EveryScenario, CulpritsDoNotMentionPerformance) {
  for (auto const& culprit : lab_.truth["culprits"]) {
    auto const commits = lab_.between();
    auto const found = std::ranges::find_if(
        commits, [&](auto const& c) { return c.sha == text(culprit["commit"]); });
    ASSERT_NE(found, commits.end());
    EXPECT_EQ(found->subject(), text(culprit["subject"]));
    EXPECT_THAT(found->subject(),
                EndsWith("(#" + std::to_string(culprit["pull_request"].get<int>()) + ")"));
    EXPECT_FALSE(std::regex_search(
        found->message, std::regex{"slow|regress|leak|memory use|twice|perf", std::regex::icase}));
  }
}

TEST_P(EveryScenario, BuildsAllCommitsExceptThoseListedAsBroken) {
  auto const broken = lab_.truth["broken"].get<std::set<std::string>>();
  for (auto const& commit : lab_.between()) {
    EXPECT_EQ(lab_.build(commit.sha), broken.contains(commit.sha) ? 125 : 0) << commit.subject();
  }
}

TEST_P(EveryScenario, AppliesItsChangesInAnyOrder) {
  for (std::uint64_t seed = 10; seed < 15; ++seed) {
    EXPECT_NO_THROW(Lab(GetParam(), Contents::kernels, seed)) << seed;
  }
}

TEST_P(EveryScenario, ScriptsTheBenchmarksOfItsSuite) {
  auto const suite = lab_.configuration["suite"];
  auto const known = benchmarks(lab_, 1);
  for (auto const& model : suite["models"]) {
    for (auto const& test : suite["tests"]) {
      EXPECT_TRUE(known.contains("test_" + text(test) + "[" + text(model) + "-cpu-eager]"))
          << model;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Lab,
                         EveryScenario,
                         testing::ValuesIn(scenario_names),
                         [](auto const& test) { return scenario_test_name(test); });

TEST(Lab, GivesTheSameHashesForTheSameSeed) {
  EXPECT_EQ(shas(Lab{"one-culprit"}.trunk), shas(Lab{"one-culprit"}.trunk));
  EXPECT_NE(shas(Lab{"one-culprit"}.trunk), shas(Lab("one-culprit", Contents::kernels, 2).trunk));
}

TEST(Lab, ScriptsTheSameHistoryWithNumbersThatChangeAtTheCulprit) {
  Lab const lab{"one-culprit", Contents::scripted};
  Lab const kernels{"one-culprit"};
  auto const& culprit = lab.truth["culprits"][0];
  auto const position = culprit["position"].get<std::size_t>();
  EXPECT_EQ(culprit["subject"], kernels.truth["culprits"][0]["subject"]);
  EXPECT_EQ(lab.between()[position - 1].sha, text(culprit["commit"]));

  auto const name = text(culprit["effects"][0]["benchmark"]);
  auto before = benchmarks(lab, position - 1);
  auto const after = benchmarks(lab, position);
  EXPECT_DOUBLE_EQ(after[name]["latency"].get<double>(),
                   before[name]["latency"].get<double>() * 1.2);
  before[name]["latency"] = after[name]["latency"];
  EXPECT_EQ(before, after);
  EXPECT_EQ(benchmarks(lab, 34), after);
}

TEST(Lab, MultipliesTheEffectsOfSeveralCulprits) {
  Lab const lab{"two-on-one", Contents::scripted};
  auto const& culprits = lab.truth["culprits"];
  ASSERT_EQ(culprits.size(), 2U);
  double expected = 1;
  for (auto const& culprit : culprits) {
    EXPECT_EQ(culprit["effects"][0]["benchmark"], culprits[0]["effects"][0]["benchmark"]);
    expected *= culprit["effects"][0]["ratio"].get<double>();
  }

  auto const name = text(culprits[0]["effects"][0]["benchmark"]);
  auto const before = benchmarks(lab, 1)[name]["latency"].get<double>();
  auto const after = benchmarks(lab, 34)[name]["latency"].get<double>();
  EXPECT_DOUBLE_EQ(after / before, expected);
}

TEST(Lab, RemovesTheEffectsOfARevertedCulprit) {
  Lab const lab{"change-and-revert", Contents::scripted};
  EXPECT_EQ(lab.truth["culprits"], json::array());
  auto const commits = lab.between();
  auto const& landed = commits.at(8);
  auto const& reverted = commits.at(20);
  EXPECT_EQ(reverted.subject(), "Revert \"" + landed.subject() + "\"");
  EXPECT_THAT(reverted.message, HasSubstr("This reverts commit " + landed.sha + "."));

  auto const before = benchmarks(lab, 8);
  EXPECT_NE(benchmarks(lab, 9), before);
  EXPECT_EQ(benchmarks(lab, 20), benchmarks(lab, 9));
  EXPECT_EQ(benchmarks(lab, 21), before);
}

TEST(Lab, ReleasesAThirdNightlyWithTheRevertOfTheCulprit) {
  Lab const lab{"culprit-and-fix", Contents::scripted};
  ASSERT_EQ(lab.nightly.size(), 3U);
  EXPECT_EQ(lab.nightly[2].time - lab.nightly[1].time, 24 * 3600);
  EXPECT_EQ(text(lab.truth["nightlies"][2]["commit"]), lab.trunk.back().sha);
  EXPECT_EQ(lab.configuration["feed"]["backlog"], 3);
  auto const commits = lab.between();
  ASSERT_EQ(commits.size(), 32U) << "of both days";
  EXPECT_EQ(commits.at(23).sha, text(lab.truth["nightlies"][1]["commit"]));
  ASSERT_EQ(lab.truth["culprits"].size(), 1U);
  auto const culprit = lab.truth["culprits"][0];
  EXPECT_EQ(commits.at(14).sha, text(culprit["commit"]));
  EXPECT_EQ(commits.at(28).sha, text(culprit["reverted_by"]));
  EXPECT_THAT(commits.at(28).message, HasSubstr("This reverts commit " + commits.at(14).sha + "."));
  EXPECT_EQ(benchmarks(lab, 32), benchmarks(lab, 14));
  EXPECT_NE(benchmarks(lab, 24), benchmarks(lab, 14));
}

TEST(Lab, ReleasesSixNightliesOfAChangeThatIsRevertedAndLandsAgain) {
  Lab const lab{"whole-life", Contents::scripted};
  ASSERT_EQ(lab.nightly.size(), 6U);
  EXPECT_EQ(lab.nightly[5].time - lab.nightly[0].time, 5 * 24 * 3600);
  EXPECT_EQ(lab.configuration["feed"]["backlog"], 6);
  auto const commits = lab.between();
  ASSERT_EQ(commits.size(), 22U);
  for (std::size_t night = 1; night < 6; ++night)
    EXPECT_EQ(text(lab.truth["nightlies"][night]["commit"]), commits.at(4 * night + 1).sha);

  auto const culprits = lab.truth["culprits"];
  ASSERT_EQ(culprits.size(), 2U);
  EXPECT_EQ(text(culprits[0]["reverted_by"]), commits.at(11).sha);
  EXPECT_EQ(text(culprits[1]["commit"]), commits.at(15).sha);
  auto const before = benchmarks(lab, 3);
  auto const worse = benchmarks(lab, 4);
  EXPECT_NE(worse, before);
  EXPECT_EQ(benchmarks(lab, 11), worse);
  EXPECT_EQ(benchmarks(lab, 12), before);
  EXPECT_EQ(benchmarks(lab, 22), worse);
}

TEST(Lab, ListsTheBrokenSpanAsSuspectsWhenTheCulpritDoesNotBuild) {
  Lab const lab{"broken-span-inside", Contents::scripted};
  auto const suspects = lab.truth["culprits"][0]["suspects"].get<std::vector<std::string>>();
  auto expected = lab.truth["broken"].get<std::vector<std::string>>();
  ASSERT_EQ(expected.size(), 5U);
  ASSERT_EQ(suspects.size(), 6U);
  EXPECT_EQ(lab.build(suspects.back()), 0);
  expected.push_back(suspects.back());
  EXPECT_EQ(suspects, expected);
  EXPECT_THAT(suspects, testing::Contains(text(lab.truth["culprits"][0]["commit"])));
}

TEST(Lab, ConfiguresTheServiceToWatchIt) {
  Lab const lab{"memory"};
  EXPECT_EQ(lab.configuration["feed"],
            (json{{"kind", "git"}, {"path", "repository"}, {"stale_days", 0}}));
  EXPECT_EQ(lab.configuration["suite"]["models"], json::array({"dcgan", "lennard_jones"}));
  EXPECT_EQ(text(lab.configuration["suite"]["scale"]), "smoke");
  auto const recipe = text(lab.configuration["source"]["recipe"]);
  EXPECT_EQ(access(recipe.c_str(), X_OK), 0) << recipe;
}

TEST(Lab, BuildsKernelsOfGoodCommitsAndRefusesBrokenOnes) {
  Lab const lab{"broken-span"};
  auto const first = text(lab.truth["nightlies"][0]["commit"]);
  auto const status = lab.build(first);
  if (status == no_libtorch) GTEST_SKIP() << "no LibTorch is installed";
  ASSERT_EQ(status, 0);
  EXPECT_TRUE(fs::exists(lab.scratch.path / "prefix/lib/liblab.so"));
  auto const manifest = read_json(lab.scratch.path / "prefix/build.json");
  EXPECT_EQ(text(manifest["commit"]), first);
  EXPECT_EQ(text(manifest["version"]), "2.9.0a0+git" + first.substr(0, 7));
  EXPECT_EQ(text(manifest["date"]), "2025-09-02");
  EXPECT_EQ(text(manifest["kind"]), "libtorch");
  EXPECT_EQ(manifest["preload"], json::array({"lib/liblab.so"}));

  EXPECT_EQ(lab.build(text(lab.truth["broken"][0])), 125);
  EXPECT_FALSE(fs::exists(lab.scratch.path / "prefix/build.json"));
  EXPECT_EQ(lab.build(text(lab.truth["culprits"][0]["commit"])), 0);
}

TEST(Lab, PacksBuildsWithADependencyAfterTheLinkChanges) {
  Lab const lab{"dependency", Contents::scripted};
  EXPECT_EQ(lab.truth["culprits"], json::array());
  EXPECT_EQ(text(lab.truth["dependency"]["name"]), "checked-blas");
  auto const recipe =
      (lab.scratch.path / "lab" / text(lab.configuration["source"]["recipe"])).string();
  auto const dependencies = [&] {
    auto const file = (lab.scratch.path / "printed").string();
    EXPECT_EQ(std::system(("'" + recipe + "' --dependencies > '" + file + "'").c_str()), 0);
    std::ifstream stream{file};
    return std::string{std::istreambuf_iterator<char>{stream}, {}};
  };
  auto const before = dependencies();
  EXPECT_THAT(before, testing::Not(HasSubstr("checked-blas")));
  EXPECT_EQ(dependencies(), before);

  auto const now = lab.scratch.path / "lab/dependencies/now";
  fs::remove(now);
  fs::create_symlink("after", now);

  EXPECT_THAT(dependencies(), HasSubstr("packed with checked-blas.json "));
}

std::string error_of(std::string const& scenario) {
  Scratch const scratch;
  fs::create_directory(scratch.path / "scenarios");
  std::ofstream{scratch.path / "scenarios/x.json"} << scenario;
  auto const loaded = load_scenario(scratch.path / "scenarios/x.json");
  return loaded ? "" : loaded.error().message;
}

TEST(Scenario, IsRefusedWithTheKeyAndWhatIsAllowed) {
  auto const with = [](std::string const& rest) {
    return R"({"name": "x", "about": "y", "suite": {"models": ["dlrm"], "tests": ["eval"]}, )" +
           rest + "}";
  };
  EXPECT_EQ(error_of(with(R"("first_nightly": "2025-09-02", "culprits": [])")), "");
  EXPECT_THAT(error_of(with(R"("first_nightly": "2025-02-30", "culprits": [])")),
              EndsWith("x.json: first_nightly: found '2025-02-30', allowed is YYYY-MM-DD"));
  EXPECT_THAT(error_of(with(R"("first_nightly": "2025-09-02", "culprits": [], "speed": 1)")),
              HasSubstr("scenario: found the unknown key 'speed', allowed are "));
  EXPECT_THAT(
      error_of(with(
          R"("first_nightly": "2025-09-02", "culprits": [{"change": "a", "at": 35, "effects": []}])")),
      EndsWith("culprits.at: found 35, allowed is a free position from 1 to 34"));
  EXPECT_THAT(
      error_of(with(
          R"("first_nightly": "2025-09-02", "culprits": [{"change": "a", "at": 9, "reverted_at": 4, "effects": []}])")),
      EndsWith("culprits.reverted_at: found 4, allowed is a position after culprits.at, 9"));
  EXPECT_THAT(
      error_of(with(
          R"("first_nightly": "2025-09-02", "culprits": [], "broken": {"from": 9, "until": 4})")),
      EndsWith("broken.until: found 4, allowed is a position after broken.from, 9"));
  EXPECT_THAT(error_of("{"), HasSubstr("parse error"));
}

TEST(Scenario, WithAnUnknownChangeIsRefused) {
  auto const material = load_material(lab_folder);
  ASSERT_TRUE(material);
  auto scenario = load_scenario(lab_folder / "scenarios/one-culprit.json");
  ASSERT_TRUE(scenario);
  scenario->culprits[0].change = "culprits/unknown";
  auto const steps = plan_history(*scenario, *material, 1);
  ASSERT_FALSE(steps);
  EXPECT_EQ(steps.error().message, "scenario one-culprit: change culprits/unknown not found");
}

TEST(Lab, NeverOverwritesARepository) {
  Scratch const scratch;
  fs::create_directory(scratch.path / "repository");
  Request request;
  request.scenario = lab_folder / "scenarios/no-change.json";
  request.out = scratch.path;
  auto const done = generate(request);
  ASSERT_FALSE(done);
  EXPECT_THAT(done.error().message, EndsWith("repository: exists already, allowed is a new path"));
}

}  // namespace
}  // namespace torchwatch::lab
