#include "tests/e2e/expect.h"

#include <algorithm>
#include <csignal>
#include <map>

#include <boost/algorithm/string/join.hpp>
#include <gmock/gmock.h>

#include "runner/process/sandbox.h"
#include "tests/e2e/eventually.h"

namespace torchwatch::e2e {

using nlohmann::json;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::IsSubsetOf;

namespace {

std::string name_of_series(json const& effect) {
  return effect.at("benchmark").get<std::string>() + "_" + effect.at("metric").get<std::string>();
}

std::vector<std::string> suspects_of(json const& culprit) {
  return culprit.at("suspects").get<std::vector<std::string>>();
}

bool is_increase(json const& effect) {
  return effect.value("ratio", 1.0) > 1 || effect.value("bytes", 0.0) > 0;
}

/// Returns the planted culprits that a bisection of the worse series must find: those that changed
/// any of these series, also for the better.
std::vector<json> wanted_culprits(json const& truth) {
  auto const worse = planted_series(truth);
  std::vector<json> culprits;
  for (auto const& culprit : truth.at("culprits")) {
    auto const& effects = culprit.at("effects");
    auto const is_part = [&worse](json const& effect) {
      return worse.contains(name_of_series(effect));
    };
    if (std::ranges::any_of(effects, is_part)) culprits.push_back(culprit);
  }
  return culprits;
}

bool makes_worse(json const& culprit) {
  auto const& effects = culprit.at("effects");
  return std::ranges::any_of(effects, is_increase);
}

/// Returns the outcome of a bisection that finds every culprit.
std::string planted_outcome(std::vector<json> const& culprits) {
  auto const is_open = [](json const& culprit) {
    return makes_worse(culprit) && suspects_of(culprit).size() > 1;
  };
  return std::ranges::any_of(culprits, is_open) ? "range" : "culprit";
}

void expect_found(FoundBisection const& bisection, json const& culprit) {
  auto const suspects = suspects_of(culprit);
  auto const found = std::ranges::find_if(
      bisection.findings, [&](Found const& finding) { return finding.suspects == suspects; });
  ASSERT_NE(found, bisection.findings.end())
      << culprit.at("commit") << " was not found: " << testing::PrintToString(bisection);
  if (suspects.size() == 1) {
    EXPECT_EQ(found->culprit, culprit.at("commit").get<std::string>());
    EXPECT_EQ(found->pull_request, culprit.at("pull_request").get<int>());
  } else {
    EXPECT_EQ(found->culprit, std::nullopt) << "commits that do not build cannot be distinguished";
  }
}

void expect_only_planted(FoundBisection const& bisection, json const& truth) {
  std::set<std::string> planted;
  for (auto const& culprit : truth.at("culprits"))
    planted.insert(culprit.at("commit").get<std::string>());
  for (auto const& finding : bisection.findings) {
    if (!finding.culprit || !finding.is_worse) continue;
    EXPECT_TRUE(planted.contains(*finding.culprit)) << testing::PrintToString(finding);
  }
}

/// Expects that commits that do not build are suspects and skipped with a reason. The first later
/// commit that builds is the last suspect.
void expect_explained_range(json const& bisection, json const& culprit) {
  auto suspects = suspects_of(culprit);
  EXPECT_THAT(suspects, testing::Contains(culprit.at("commit").get<std::string>()));
  suspects.pop_back();
  auto const& steps = bisection.at("steps");
  for (auto const& suspect : suspects) {
    auto const skips = [&suspect](json const& step) {
      return step.at("skipped") == suspect && !step.at("note").empty();
    };
    EXPECT_TRUE(std::ranges::any_of(steps, skips)) << suspect;
  }
}

void expect_reported(std::string const& report, json const& culprit) {
  auto const pull_request = std::to_string(culprit.at("pull_request").get<int>());
  EXPECT_THAT(report, HasSubstr("/commit/" + culprit.at("commit").get<std::string>()));
  EXPECT_THAT(report, ContainsRegex("/pull/" + pull_request + "[^0-9]"))
      << "the report has no link to the pull request";
  for (auto const& effect : culprit.at("effects")) {
    if (!is_increase(effect)) continue;
    EXPECT_THAT(report, HasSubstr(effect.at("benchmark").get<std::string>()));
  }
}

/// Checks the incident's report, and the reasons of its bisection for skipped commits.
void expect_report(json const& incident, std::vector<json> const& culprits) {
  auto const report = text_of(incident.at("report").get<std::string>());
  for (auto const& culprit : culprits) {
    if (suspects_of(culprit).size() > 1)
      expect_explained_range(incident.at("bisections").at(0), culprit);
    else if (makes_worse(culprit))
      expect_reported(report, culprit);
  }
}

}  // namespace

Answer expect_answer(Finished const& check) {
  EXPECT_EQ(check.signal, 0) << check.err;
  auto const found = json::parse(check.out, nullptr, false);
  EXPECT_TRUE(found.is_object()) << check.out << check.err;
  return found.is_object() ? answer_of(found) : Answer{};
}

std::set<std::string> planted_series(json const& truth) {
  std::map<std::string, double> ratios;
  std::map<std::string, double> bytes;
  for (auto const& culprit : truth.at("culprits")) {
    for (auto const& effect : culprit.at("effects")) {
      auto const series = name_of_series(effect);
      ratios.try_emplace(series, 1).first->second *= effect.value("ratio", 1.0);
      bytes[series] += effect.value("bytes", 0.0);
    }
  }
  std::set<std::string> worse;
  for (auto const& [series, ratio] : ratios)
    if (ratio > 1 || bytes.at(series) > 0) worse.insert(series);
  return worse;
}

void expect_culprit(World const& world, FoundBisection const& bisection) {
  EXPECT_EQ(bisection.outcome, "culprit");
  expect_found(bisection, world.truth().at("culprits").at(0));
  expect_only_planted(bisection, world.truth());
}

void expect_truth(World const& world, Finished const& check) {
  auto const& truth = world.truth();
  auto const answer = expect_answer(check);
  auto const worse = planted_series(truth);
  if (worse.empty()) {
    EXPECT_EQ(check.status, 0) << check.err;
    EXPECT_TRUE(answer.moved.empty()) << testing::PrintToString(answer);
    return;
  }
  EXPECT_EQ(check.status, 1) << check.err;
  ASSERT_FALSE(answer.moved.empty());
  EXPECT_THAT(answer.moved, IsSubsetOf(worse));
  ASSERT_EQ(answer.bisections.size(), 1U) << testing::PrintToString(answer);
  auto const& bisection = answer.bisections.front();
  auto const culprits = wanted_culprits(truth);
  EXPECT_EQ(bisection.outcome, planted_outcome(culprits));
  for (auto const& culprit : culprits)
    expect_found(bisection, culprit);
  expect_only_planted(bisection, truth);
  expect_report(json::parse(check.out).at("incidents").at(0), culprits);
}

void expect_quiet_end(World const& world, Process& process) {
  process.send(SIGTERM);
  auto const ended = process.ended_within(std::chrono::seconds{5});
  ASSERT_TRUE(ended) << "still running 5 s after SIGTERM";
  EXPECT_EQ(ended->signal, 0);
  EXPECT_EQ(ended->status, 0) << ended->err;
  expect_no_process_left(world);
}

void expect_no_process_left(World const& world) {
  // A compiler that a killed service started runs on, which can take long on a slow host.
  constexpr std::chrono::seconds longest_end{120};
  std::vector<SeenProcess> left;
  eventually(
      [&] {
        // The next service does this, too.
        process::end_orphaned_sandboxes();
        left = world.processes();
        return left.empty();
      },
      longest_end);
  for (auto const& process : left)
    ADD_FAILURE() << "process " << process.pid << ", a child of " << process.parent
                  << ", is still running: " << boost::algorithm::join(process.argv, " ");
}

}  // namespace torchwatch::e2e
