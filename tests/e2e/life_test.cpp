#include <cstddef>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "tests/e2e/dependencies.h"
#include "tests/e2e/eventually.h"
#include "tests/e2e/expect.h"
#include "tests/e2e/service.h"

// The life of an incident from its issue to its end.
namespace torchwatch::e2e {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

TEST(Life, ARevertInTheThirdNightlyClosesTheIssue) {
  WorldOptions options;
  options.scenario = "culprit-and-fix";
  World world{options};
  world.add_github();
  auto const check = world.run({"check", "--json"});
  EXPECT_EQ(check.status, 1) << check.err;

  auto const state = world.github().state();
  ASSERT_EQ(state.at("issues").size(), 1U) << check.err;
  auto const& issue = state.at("issues").at(0);
  EXPECT_EQ(issue.at("state"), "closed");
  EXPECT_EQ(issue.at("state_reason"), "completed");
  auto const& culprit = world.truth().at("culprits").at(0);
  EXPECT_THAT(issue.at("body").get<std::string>(),
              HasSubstr("/commit/" + culprit.at("commit").get<std::string>()));
  auto const comments = state.at("comments");
  ASSERT_EQ(comments.size(), 2U) << comments;
  EXPECT_THAT(comments.at(0).at("body").get<std::string>(),
              HasSubstr("/commit/" + culprit.at("commit").get<std::string>()));
  EXPECT_THAT(comments.at(1).at("body").get<std::string>(),
              HasSubstr("/commit/" + culprit.at("reverted_by").get<std::string>()));

  auto const again = world.run({"check", "--json"});
  EXPECT_EQ(again.status, 0) << "the third nightly is as fast as the first";
  EXPECT_EQ(world.github().state().at("comments").size(), 2U);
}

/// One incident over the six nightlies of the lab `whole-life`, which are released one by one. The
/// commits of a nightly land with it. The worker of lennard_jones crashes on the second nightly.
class LifeOnLab : public testing::Test {
 protected:
  LifeOnLab() : world_{whole_life()} {
    world_.add_github();
    world_.configure({{"feed", {{"backlog", 2}}}});
    world_.wrap_recipe(crashing_recipe(commit_of(1)));
  }

  static WorldOptions whole_life() {
    WorldOptions options;
    options.scenario = "whole-life";
    return options;
  }

  /// A recipe whose builds of one commit crash in lennard_jones.
  static std::string crashing_recipe(std::string const& commit) {
    return R"(#!/bin/sh
set -eu
"$(dirname "$0")/real" "$@"
[ "$1" != --dependencies ] || exit 0
[ "$TORCHWATCH_COMMIT" != )" +
           commit + R"( ] ||
  sed -i '/lennard_jones/,/}/ s/"behave": "ok"/"behave": "crash"/' "$2/script.json"
)";
  }

  /// The trunk commit of a nightly, which counts from 0.
  std::string commit_of(std::size_t nightly) const {
    return world_.truth().at("nightlies").at(nightly).at("commit").get<std::string>();
  }

  json const& culprit(std::size_t number) const { return world_.truth().at("culprits").at(number); }

  std::string revert() const { return culprit(0).at("reverted_by").get<std::string>(); }

  void night(std::size_t nightly) {
    land_up_to(world_, commit_of(nightly));
    release_up_to(world_, nightly);
    check();
  }

  /// Checks the nightlies. Then expects that the command prints what GitHub has.
  void check() {
    auto const checked = world_.run({"check", "--json"});
    EXPECT_LT(checked.status, 2) << checked.err;
    auto const printed = world_.run({"incidents", "1", "--markdown"});
    EXPECT_EQ(printed.status, 0) << printed.err;
    EXPECT_EQ(printed.out, filed());
  }

  /// The only issue.
  json issue() {
    auto const issues = world_.github().state().at("issues");
    EXPECT_EQ(issues.size(), 1U);
    return issues.at(0);
  }

  std::string body() { return issue().at("body").get<std::string>(); }

  /// The state of the issue with its reason: "closed completed".
  std::string issue_state() {
    auto const found = issue();
    auto const reason = found.at("state_reason");
    return found.at("state").get<std::string>() +
           (reason.is_null() ? "" : " " + reason.get<std::string>());
  }

  /// The service's comments: on the incident, and replies to people.
  std::vector<std::string> comments() {
    std::vector<std::string> texts;
    auto const all = world_.github().state().at("comments");
    for (auto const& comment : all) {
      bool const is_by_ada = comment.at("user").at("login") == "ada";
      if (!is_by_ada) texts.push_back(comment.at("body").get<std::string>());
    }
    return texts;
  }

  /// The issue and its comments in the form that `incidents ID --markdown` prints.
  std::string filed() {
    auto const filed_issue = issue();
    auto text = "# " + filed_issue.at("title").get<std::string>() + "\n\n" +
                filed_issue.at("body").get<std::string>();
    for (auto const& comment : comments())
      text += "\n---\n\n" + comment;
    return text;
  }

  json incident() {
    auto const printed = world_.run({"incidents", "1", "--json"});
    return json::parse(printed.out);
  }

  /// The events so far, with the states after them: "fixed fixed".
  std::vector<std::string> events() {
    std::vector<std::string> lines;
    auto const timeline = incident().at("timeline");
    for (auto const& event : timeline)
      lines.push_back(event.at("kind").get<std::string>() + " " +
                      event.at("state").get<std::string>());
    return lines;
  }

  std::string last_event() {
    auto const all = events();
    return all.empty() ? std::string{} : all.back();
  }

  /// A person accepts the incident in a comment. The service reads it and closes the issue.
  void accept_in_a_comment() {
    json const comment{
        {"issue", 1}, {"user", "ada"}, {"body", "/torchwatch accept pays for itself"}};
    world_.github().control({{"settings", {{"permissions", {{"ada", "write"}}}}},
                             {"comments", json::array({comment})}});
    Service const service{world_};
    EXPECT_TRUE(eventually([&] { return issue_state() == "closed not_planned"; }));
  }

  World world_;
};

TEST_F(LifeOnLab, RegressionIsExplained_AnotherSeriesJoins_ItIsFixed_Returns_AndIsAccepted) {
  night(1);
  EXPECT_THAT(events(), ElementsAre("opened open", "explained explained"));
  EXPECT_THAT(incident().at("changes"), SizeIs(1)) << "lennard_jones crashed";
  EXPECT_THAT(body(), HasSubstr("/commit/" + culprit(0).at("commit").get<std::string>()));
  EXPECT_EQ(issue_state(), "open");
  ASSERT_THAT(comments(), SizeIs(1));

  night(2);
  EXPECT_EQ(last_event(), "explained explained") << "a bisection proved the same culprit";
  EXPECT_THAT(incident().at("changes"), SizeIs(2));
  EXPECT_THAT(body(), HasSubstr("test_train[lennard_jones-cpu-eager]"));
  ASSERT_THAT(comments(), SizeIs(3));
  EXPECT_THAT(comments().at(1), HasSubstr("**More series** in nightly `2025-09-04`"));

  land_up_to(world_, revert());
  check();
  EXPECT_EQ(last_event(), "fix_expected fix_expected");
  EXPECT_THAT(body(), HasSubstr("/commit/" + revert()));
  EXPECT_THAT(comments(), SizeIs(3)) << "one line in the description, and no comment";

  night(3);
  EXPECT_EQ(last_event(), "fixed fixed");
  EXPECT_EQ(issue_state(), "closed completed");
  ASSERT_THAT(comments(), SizeIs(4));
  EXPECT_THAT(comments().back(), HasSubstr("**Fixed** in nightly `2025-09-05`"));
  EXPECT_THAT(comments().back(), HasSubstr("/commit/" + revert()));

  night(4);
  EXPECT_EQ(last_event(), "explained returned");
  EXPECT_EQ(issue_state(), "open reopened");
  ASSERT_THAT(comments(), SizeIs(testing::Ge(6U)));
  auto const again = "/commit/" + culprit(1).at("commit").get<std::string>();
  EXPECT_THAT(comments().at(4),
              AllOf(HasSubstr("**Returned** in nightly `2025-09-06`"), HasSubstr(again)));
  EXPECT_THAT(comments().back(), HasSubstr(again));

  auto const before = comments().size();
  accept_in_a_comment();
  night(5);
  EXPECT_EQ(last_event(), "ruled accepted");
  EXPECT_EQ(issue_state(), "closed not_planned");
  ASSERT_THAT(comments(), SizeIs(before + 2));
  EXPECT_THAT(comments().at(before), HasSubstr("`/torchwatch accept pays for itself`: accepted."));
  EXPECT_THAT(comments().back(), HasSubstr("**Accepted** by `ada`"));
  EXPECT_THAT(incident().at("changes"), SizeIs(2)) << "the new level is the reference";
}

}  // namespace
}  // namespace torchwatch::e2e
