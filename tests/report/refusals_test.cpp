// Each way in which GitHub refuses a report: one alarm, and no endless repetition.

#include "daemon/report/refusals.h"

#include <chrono>
#include <memory>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "daemon/report/answers.h"
#include "tests/captured_log.h"
#include "tests/report/publishing.h"

namespace torchwatch::report {
namespace {

using nlohmann::json;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr auto first_issue = "https://github.com/pytorch/pytorch/issues/1";

/// An incident whose messages GitHub refuses.
class RefusedReport : public testing::Test, public Publishing {
 protected:
  RefusedReport() { open_incident(); }

  /// Sends all messages, also those whose next attempt is later.
  Result<> publish() {
    for (auto const& entry : store->outbox().unfinished())
      if (entry.next_at) store->outbox().postpone(entry.message.id, entry.failure, clock.time);
    return send();
  }

  Result<> comment() {
    happen(IncidentEventKind::stale, IncidentState::stale);
    return publish();
  }

  Result<> collect() {
    Answers answers{options, *store, network(), {}};
    return fakes::run(answers.read_labels());
  }

  void set(char const* setting, json const& value) {
    json settings;
    settings[setting] = value;
    change({{"settings", settings}});
  }

  std::size_t requests() const { return hub.state().at("requests").size(); }

  std::string place() { return store->incidents().find(IncidentId{1})->report; }

  /// The subjects of the open alarms about refusals.
  std::vector<std::string> refusals() {
    std::vector<std::string> subjects;
    for (auto const& alarm : store->alarms().open())
      if (alarm.kind == AlarmKind::github_refused) subjects.push_back(alarm.subject);
    return subjects;
  }

  std::string first_detail() { return store->alarms().open().at(0).detail; }
};

/// A setting of the fake GitHub by which it refuses every report.
struct ClosedRepository {
  char const* setting;
  json refusing;
  json allowing;
  char const* subject;
  char const* advice;
};

std::ostream& operator<<(std::ostream& out, ClosedRepository const& closed) {
  return out << closed.subject;
}

class RefusedByRepository : public RefusedReport,
                            public testing::WithParamInterface<ClosedRepository> {};

TEST_P(RefusedByRepository, IsOneAlarmAndNoRequestForAnHour) {
  auto const& closed = GetParam();
  tests::CapturedLog const log;
  set(closed.setting, closed.refusing);

  EXPECT_FALSE(publish());
  auto const sent = requests();
  clock.time += seconds{3599};
  EXPECT_FALSE(publish());
  EXPECT_FALSE(collect());
  EXPECT_EQ(requests(), sent);
  clock.time += seconds{1};
  EXPECT_FALSE(publish());
  EXPECT_GT(requests(), sent);

  EXPECT_THAT(refusals(), ElementsAre(closed.subject));
  EXPECT_THAT(first_detail(), HasSubstr(closed.advice));
  EXPECT_THAT(store->alarms().all(), SizeIs(1));

  set(closed.setting, closed.allowing);
  clock.time += seconds{3600};
  ASSERT_TRUE(publish());
  EXPECT_EQ(place(), first_issue);
  EXPECT_THAT(refusals(), IsEmpty());
  EXPECT_THAT(log.text(), HasSubstr("alarm_cleared kind=github_refused"));
}

INSTANTIATE_TEST_SUITE_P(
    Each,
    RefusedByRepository,
    testing::Values(
        ClosedRepository{"archived", true, false, "archived", "the repository is archived"},
        ClosedRepository{"issues", false, true, "issues_disabled", "enable them in its settings"},
        ClosedRepository{"blocked", true, false, "blocked", "blocked the token's user"},
        ClosedRepository{"token", "another", "", "credentials", "renew the token"},
        ClosedRepository{"repository", "o/r", "pytorch/pytorch", "hidden", "does not exist"}));

TEST_F(RefusedReport, OfARestartedServiceIsTriedAgainAtOnce) {
  set("archived", true);
  EXPECT_FALSE(publish());
  set("archived", false);
  refused_until = std::make_shared<Timestamp>();
  EXPECT_TRUE(publish());
}

TEST_F(RefusedReport, WithoutATokenIsOneAlarm) {
  options.github.token_env = "TORCHWATCH_TEST_NO_TOKEN";
  EXPECT_FALSE(publish());
  EXPECT_THAT(refusals(), ElementsAre("credentials"));
  EXPECT_THAT(first_detail(), HasSubstr("variable TORCHWATCH_TEST_NO_TOKEN is not set"));
}

TEST_F(RefusedReport, ToReadIssuesIsOneAlarmUntilTheyAreRead) {
  ASSERT_TRUE(publish());
  set("token", "another");
  EXPECT_FALSE(collect());
  EXPECT_THAT(refusals(), ElementsAre("credentials"));

  set("token", "");
  clock.time += seconds{3600};
  ASSERT_TRUE(collect());
  EXPECT_THAT(refusals(), IsEmpty());
}

TEST_F(RefusedReport, ToReadIssuesForLackOfAPermissionEndsWhenTheyAreRead) {
  ASSERT_TRUE(publish());
  fail({{"method", "GET"}, {"path", "labels="}, {"status", 403}, {"message", "no"}});
  EXPECT_FALSE(collect());
  EXPECT_THAT(refusals(), ElementsAre("permission: answers"));

  ASSERT_TRUE(collect());
  EXPECT_THAT(refusals(), IsEmpty());
}

TEST_F(RefusedReport, OfADeletedIssueIsOneAlarm) {
  ASSERT_TRUE(publish());
  change({{"deleted", json::array({1})}});
  ASSERT_TRUE(comment());
  EXPECT_THAT(refusals(), ElementsAre("deleted: incident 1"));
  EXPECT_THAT(first_detail(),
              HasSubstr(std::string{"the issue was deleted, so updates of its incident "
                                    "are not published ("} +
                        first_issue + ")"));
}

TEST_F(RefusedReport, OfALockedIssueIsOneAlarm) {
  ASSERT_TRUE(publish());
  auto const lock = [&] {
    github::Request request{"PUT", "/repos/pytorch/pytorch/issues/1/lock", {}, "{}"};
    request.headers = {{"authorization", "Bearer x"}, {"user-agent", "test"}};
    return hub.handle(request, fakes::DirectTransport::host()).response.status;
  };
  ASSERT_EQ(lock(), 204);
  set("push", false);
  ASSERT_TRUE(comment());
  EXPECT_THAT(refusals(), ElementsAre("locked: incident 1"));
}

TEST_F(RefusedReport, OfAnIssueThatMovedOutOfReachIsOneAlarm) {
  ASSERT_TRUE(publish());
  change({{"transferred", {{"1", fakes::DirectTransport::host() + "/repositories/9/issues/5"}}}});
  ASSERT_TRUE(comment());
  EXPECT_THAT(refusals(), ElementsAre("transferred: incident 1"));
}

TEST_F(RefusedReport, FollowsAnIssueThatMovedWithinReach) {
  ASSERT_TRUE(publish());
  auto const moved = hub.state().at("issues").at(0);
  change({{"issues", json::array({{{"title", moved.at("title")}, {"body", moved.at("body")}}})}});
  change({{"transferred",
           {{"1", fakes::DirectTransport::host() + "/repositories/65600975/issues/2"}}}});

  ASSERT_TRUE(comment());

  EXPECT_THAT(refusals(), IsEmpty());
  ASSERT_THAT(hub.state().at("comments"), SizeIs(1));
  EXPECT_EQ(hub.state().at("comments").at(0).at("issue"), 2);
}

TEST_F(RefusedReport, IsFiledWithoutALabelThatGithubDoesNotAllow) {
  set("refused_labels", json::array({"torchbench-perf-report"}));
  ASSERT_TRUE(publish());
  EXPECT_EQ(place(), first_issue);
  EXPECT_THAT(hub.state().at("issues").at(0).at("labels"), IsEmpty());
  auto const open = store->alarms().open();
  ASSERT_THAT(open, SizeIs(1));
  EXPECT_EQ(open[0].kind, AlarmKind::label_dropped);
  EXPECT_THAT(open[0].detail, HasSubstr("GitHub does not allow one of the labels"));
}

TEST_F(RefusedReport, WithRefusedContentsIsOneAlarmThatItsSuccessClears) {
  change({{"faults",
           json::array({{{"method", "POST"},
                         {"path", "/issues"},
                         {"status", 422},
                         {"message", "Validation Failed"},
                         {"times", 2}}})}});
  EXPECT_FALSE(publish());
  EXPECT_FALSE(publish());
  EXPECT_THAT(refusals(), ElementsAre("contents: incident 1"));
  EXPECT_THAT(store->alarms().all(), SizeIs(1));

  EXPECT_TRUE(publish());
  EXPECT_THAT(refusals(), IsEmpty());
}

TEST_F(RefusedReport, AlarmOfAnotherReportStays) {
  note_refusal(*store, github::Refusal::permission, "incident 7", "HTTP 403", clock.time);
  note_refusal(*store, github::Refusal::permission, "incident 8", "HTTP 403", clock.time);
  note_success(*store, "incident 8", clock.time);
  EXPECT_THAT(refusals(), ElementsAre("permission: incident 7"));
}

TEST_F(RefusedReport, HasOneAlarmAboutTheRepositoryAtATime) {
  note_refusal(*store, github::Refusal::hidden, "incident 7", "HTTP 404", clock.time);
  note_refusal(*store, github::Refusal::archived, "incident 7", "HTTP 403", clock.time);
  EXPECT_THAT(refusals(), ElementsAre("archived"));
}

}  // namespace
}  // namespace torchwatch::report
