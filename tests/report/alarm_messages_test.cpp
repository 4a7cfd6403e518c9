#include "daemon/report/alarm_messages.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "tests/report/publishing.h"

namespace torchwatch::report {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

/// An alarm that is reported at the GitHub and the receiver of Publishing.
class AlarmMessagesTest : public testing::Test, public Publishing {
 protected:
  AlarmMessagesTest() {
    report_.alarm.kind = AlarmKind::nothing_judged;
    report_.alarm.detail = "no nightly since Monday";
    report_.alarm.raised_at = clock.now();
    report_.title = "torchwatch has judged no nightly for 5 days";
    report_.text = "No nightly was judged.\n";
  }

  void raise() {
    ASSERT_TRUE(store->alarms().raise(report_.alarm, messages_about_raised(report_, options)));
    report_.alarm.id = store->alarms().find_open(report_.alarm.kind, "").value().id;
  }

  void clear() {
    clock.time += std::chrono::hours{24};
    report_.alarm.cleared_at = clock.now();
    report_.text = "torchwatch watches again.\n";
    ASSERT_TRUE(store->alarms().clear(
        report_.alarm.id, clock.now(), messages_about_cleared(report_, options)));
  }

  AlarmReport report_;
};

TEST_F(AlarmMessagesTest, OpenOneIssueThatIsClosedWithAComment) {
  raise();
  ASSERT_TRUE(send());
  ASSERT_THAT(hub.state().at("issues"), SizeIs(1));
  EXPECT_EQ(issue().at("title"), report_.title);
  EXPECT_EQ(issue().at("state"), "open");
  EXPECT_THAT(issue().at("body").get<std::string>(), HasSubstr("No nightly was judged."));

  clear();
  ASSERT_TRUE(send());
  EXPECT_THAT(hub.state().at("issues"), SizeIs(1));
  EXPECT_EQ(issue().at("state"), "closed");
  EXPECT_EQ(issue().at("state_reason"), "completed");
  ASSERT_THAT(comments(), SizeIs(1));
  EXPECT_THAT(comments().front(), HasSubstr("torchwatch watches again."));
  EXPECT_THAT(store->outbox().unfinished(), IsEmpty());
}

TEST_F(AlarmMessagesTest, AreNotStoredAgainWhileTheAlarmIsOpen) {
  raise();
  EXPECT_FALSE(store->alarms().raise(report_.alarm, messages_about_raised(report_, options)));
  EXPECT_THAT(store->outbox().of_alarm(report_.alarm.id), SizeIs(1));
  clear();
  EXPECT_FALSE(store->alarms().clear(
      report_.alarm.id, clock.now(), messages_about_cleared(report_, options)));
  EXPECT_THAT(store->outbox().of_alarm(report_.alarm.id), SizeIs(3));
}

TEST_F(AlarmMessagesTest, AreSentInTheirOrderAndDoNotWaitForIncidents) {
  open_incident();
  raise();
  fail({{"method", "POST"}, {"status", 503}, {"times", 1}});
  (void)send();
  send_all();
  EXPECT_THAT(hub.state().at("issues"), SizeIs(2));
  EXPECT_THAT(store->outbox().unfinished(), IsEmpty());
}

TEST_F(AlarmMessagesTest, HaveAJsonObjectForWebhooks) {
  options.publish.webhook.url = "https://hooks.example/x";
  auto const messages = messages_about_raised(report_, options);
  ASSERT_THAT(messages, SizeIs(2));
  auto const body = json::parse(messages.back().body);
  EXPECT_EQ(body.at("event"), "alarm_raised");
  EXPECT_EQ(body.at("kind"), "nothing_judged");
  EXPECT_EQ(body.at("detail"), "no nightly since Monday");
  EXPECT_EQ(body.at("at"), "2026-01-02T03:04:05Z");
  EXPECT_THAT(body.at("id").get<std::string>(), SizeIs(32));
}

TEST_F(AlarmMessagesTest, AreAFileWithoutARepository) {
  options.github.repository.clear();
  raise();
  ASSERT_TRUE(send());
  auto const sent = store->outbox().of_alarm(report_.alarm.id);
  ASSERT_THAT(sent, SizeIs(1));
  EXPECT_THAT(sent.front().place, HasSubstr("/alarm-"));
  EXPECT_EQ(store->outbox().place_of(sent.front().message), sent.front().place);
}

}  // namespace
}  // namespace torchwatch::report
