#include <csignal>

#include <gmock/gmock.h>

#include "tests/e2e/bisections.h"
#include "tests/e2e/eventually.h"
#include "tests/e2e/expect.h"
#include "tests/e2e/service.h"

// Issues on a GitHub that fails at the worst moments.
namespace torchwatch::e2e {
namespace {

using nlohmann::json;
using testing::HasSubstr;

void expect_one_issue(World& world) {
  auto const issues = world.github().state().at("issues");
  ASSERT_EQ(issues.size(), 1U) << issues.dump(1);
  auto const& issue = issues.at(0);
  EXPECT_EQ(issue.at("labels").at(0).at("name"), "torchbench-perf-report");
  EXPECT_THAT(issue.at("body").get<std::string>(), HasSubstr("<!-- torchwatch-key: "));
  EXPECT_EQ(issue.at("comments"), 1) << "the issue was filed before its bisection began";
  auto const& culprit = world.truth().at("culprits").at(0);
  EXPECT_THAT(issue.at("body").get<std::string>(),
              HasSubstr("/commit/" + culprit.at("commit").get<std::string>()));
}

TEST(Filing, FilesOneIssueHoweverOftenItChecks) {
  World world{quick_world()};
  world.add_github();
  auto const first = world.run({"check", "--json"});
  EXPECT_EQ(first.status, 1) << first.err;
  expect_one_issue(world);
  auto const report = json::parse(first.out).at("incidents").at(0).at("report");
  EXPECT_EQ(report, world.github().state().at("issues").at(0).at("html_url"));

  auto const second = world.run({"check", "--json"});
  EXPECT_EQ(second.status, 1);
  EXPECT_EQ(second.out, first.out);
  expect_one_issue(world);
}

TEST(Filing, AddsLaterFindingsAsOneMoreComment) {
  World world{quick_world()};
  world.add_github();
  ASSERT_EQ(world.run({"check"}).status, 1);
  expect_one_issue(world);
  {
    Service const service{world};
    auto const asked = service.post("/api/v1/bisections", {{"again", 1}, {"threshold", 0.06}});
    ASSERT_LT(asked.status, 300) << asked.body;
    EXPECT_EQ(ended_bisection(service, "/api/v1/bisections/2").at("state"), "done");
  }
  EXPECT_EQ(world.run({"check"}).status, 1);
  EXPECT_EQ(world.run({"check"}).status, 1);

  auto const comments = world.github().state().at("comments");
  ASSERT_EQ(comments.size(), 2U) << comments;
  EXPECT_EQ(comments.at(1).at("issue"), 1);
  auto const& culprit = world.truth().at("culprits").at(0);
  EXPECT_THAT(comments.at(1).at("body").get<std::string>(),
              HasSubstr("/commit/" + culprit.at("commit").get<std::string>()));
}

TEST(Filing, RecordsAFalseAlarmLabelOnce) {
  World world{quick_world()};
  world.add_github();
  EXPECT_EQ(world.run({"check"}).status, 1);
  world.github().control({{"labelled", {{"1", {"False-Alarm"}}}}});

  EXPECT_EQ(world.run({"check"}).status, 1);
  EXPECT_EQ(world.run({"check"}).status, 1);

  Service const service{world};
  auto const rulings = service.get("/api/v1/incidents/1").at("rulings");
  ASSERT_EQ(rulings.size(), 1U) << rulings;
  EXPECT_EQ(rulings.at(0).at("kind"), "false_alarm");
  EXPECT_THAT(rulings.at(0).at("why").get<std::string>(), HasSubstr("/issues/1"));
  EXPECT_EQ(service.get("/api/v1/precision").at("incidents").at("false_alarms"), 1);
}

TEST(Filing, AnswersACommandInAComment) {
  World world{quick_world()};
  auto& github = world.add_github();
  EXPECT_EQ(world.run({"check"}).status, 1);
  json const comment{{"issue", 1}, {"user", "ada"}, {"body", "/torchwatch accept it is known"}};
  github.control(
      {{"settings", {{"permissions", {{"ada", "write"}}}}}, {"comments", json::array({comment})}});

  Service const service{world};

  auto const replied = "`/torchwatch accept it is known`: accepted.";
  EXPECT_TRUE(eventually([&] {
    auto const comments = github.state().at("comments");
    return comments.back().at("body").get<std::string>().find(replied) != std::string::npos;
  })) << github.state().dump(1);
  auto const rulings = service.get("/api/v1/incidents/1").at("rulings");
  ASSERT_EQ(rulings.size(), 1U) << rulings;
  EXPECT_EQ(rulings.at(0).at("kind"), "accept");
  EXPECT_EQ(rulings.at(0).at("who"), "ada");
}

TEST(Filing, LogsUnreadableFeedbackAndCompletesTheCheck) {
  World world{quick_world()};
  world.add_github();
  EXPECT_EQ(world.run({"check"}).status, 1);
  world.github().control({{"faults", json::array({{{"status", 404}}})}});

  auto const check = world.run({"check"});

  EXPECT_EQ(check.status, 1) << check.err;
  EXPECT_THAT(check.err, HasSubstr("feedback_failed"));
}

TEST(Filing, FilesNoIssueWithoutAnIncident) {
  WorldOptions options;
  options.scenario = "no-change";
  World world{options};
  world.add_github();
  EXPECT_EQ(world.run({"check", "--json"}).status, 0);
  EXPECT_TRUE(world.github().state().at("issues").empty());
}

TEST(Filing, PrintsWhyItFailedAndFilesWithTheNextCheck) {
  World world{quick_world()};
  world.add_github().control({{"settings", {{"issues", false}}}});
  auto const refused = world.run({"check", "--json"});
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.err, HasSubstr("Issues are disabled for this repo"));
  expect_culprit(world, expect_answer(refused).bisections.at(0));

  world.github().control({{"settings", {{"issues", true}}}});
  EXPECT_EQ(world.run({"check", "--json"}).status, 1);
  expect_one_issue(world);
}

/// A moment of filing at which the service is killed.
struct CrashPoint {
  char const* name;
  char const* faults;  ///< the faults of GitHub, as JSON
  std::size_t issues;  ///< number of issues at the kill
  char const* method;  ///< HTTP method of the request whose answer is delayed
};

class CrashWhileFiling : public testing::TestWithParam<CrashPoint> {};

bool is_due(World& world, CrashPoint const& point, std::size_t asked_before) {
  auto const state = world.github().state();
  auto const& requests = state.at("requests");
  return state.at("faults").empty() && state.at("issues").size() == point.issues &&
         requests.size() > asked_before && requests.back().at("method") == point.method;
}

TEST_P(CrashWhileFiling, LeavesOneIssue) {
  World world{quick_world()};
  auto& github = world.add_github();
  github.control({{"settings", {{"issues", false}}}});
  ASSERT_EQ(world.run({"check"}).status, 2) << "everything is found, but no issue is filed";
  auto const asked = github.state().at("requests").size();
  github.control({{"settings", {{"issues", true}}}, {"faults", json::parse(GetParam().faults)}});

  auto check = world.start({"check"});
  auto const due = eventually([&] { return is_due(world, GetParam(), asked); });
  ASSERT_TRUE(due) << github.state().dump(1) << check.err();
  check.send(SIGKILL);
  EXPECT_EQ(check.wait().signal, SIGKILL) << "the check ended before the kill";
  expect_no_process_left(world);

  auto const next = world.run({"check"});
  EXPECT_EQ(next.status, 1) << next.err;
  expect_one_issue(world);
}

// With "after", a request takes effect before the fault. The delay holds the answer back until the
// kill. Before the service creates an issue, it searches for it by label and by creator.
INSTANTIATE_TEST_SUITE_P(
    All,
    CrashWhileFiling,
    testing::Values(
        CrashPoint{"BeforeTheCreation",
                   R"([{"method": "GET", "path": "/issues", "after": true, "delay_ms": 5000}])",
                   0,
                   "GET"},
        CrashPoint{"BeforeTheAnswer",
                   R"([{"method": "POST", "path": "/issues", "after": true, "delay_ms": 5000}])",
                   1,
                   "POST"},
        CrashPoint{"AfterADroppedConnection",
                   R"([{"method": "GET", "path": "/issues", "after": true, "times": 2},
                {"method": "POST", "path": "/issues", "after": true, "drop": true},
                {"method": "GET", "path": "/issues", "after": true, "delay_ms": 5000}])",
                   1,
                   "GET"},
        CrashPoint{"AfterABadGateway",
                   R"([{"method": "GET", "path": "/issues", "after": true, "times": 2},
                {"method": "POST", "path": "/issues", "after": true, "status": 502},
                {"method": "GET", "path": "/issues", "after": true, "delay_ms": 5000}])",
                   1,
                   "GET"}),
    [](auto const& test) { return test.param.name; });

TEST(Filing, FindsItsIssueAgainWhenTheAnswerToTheCreationIsLost) {
  for (auto const* const fault : {R"({"drop": true})", R"({"status": 502})"}) {
    World world{quick_world()};
    auto lost = json::parse(fault);
    lost.update({{"method", "POST"}, {"path", "/issues"}, {"after", true}});
    world.add_github().control({{"faults", {lost}}});
    EXPECT_EQ(world.run({"check"}).status, 1);
    expect_one_issue(world);
  }
}

TEST(Filing, FilesOnceWithATokenThatMayOnlyTriage) {
  World world{quick_world()};
  auto const lost =
      json::parse(R"({"method": "POST", "path": "/issues", "after": true, "status": 502})");
  world.add_github().control(
      {{"settings", {{"push", false}, {"triage", true}, {"lag_s", 3}}}, {"faults", {lost}}});

  auto const checked = world.run({"check"});

  EXPECT_EQ(checked.status, 1) << checked.err;
  EXPECT_THAT(checked.err, HasSubstr("label_dropped issue="));
  EXPECT_THAT(checked.out, HasSubstr("alarm:     label_dropped"));
  EXPECT_EQ(world.github().state().at("issues").size(), 1U);
}

TEST(Filing, ShowsWhereAnOrganizationAuthorizesTheToken) {
  World world{quick_world()};
  auto const* const address = "https://github.com/orgs/pytorch/sso?authorization_request=AAAA";
  world.add_github().control({{"settings", {{"sso", address}}}});

  auto const checked = world.run({"config", "check", "--json", world.config_file().string()});

  EXPECT_EQ(checked.status, 2);
  EXPECT_THAT(checked.out, HasSubstr(std::string{"authorize the token at "} + address));
}

}  // namespace
}  // namespace torchwatch::e2e
