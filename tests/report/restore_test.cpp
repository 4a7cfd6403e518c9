// A database that is restored from an older backup: what was published since is not published
// again.

#include <chrono>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "github/issue.h"
#include "storage/backup.h"
#include "tests/report/publishing.h"

namespace torchwatch::report {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;
using Kind = IncidentEventKind;
using State = IncidentState;

class RestoreTest : public testing::Test, public Publishing {
 protected:
  std::filesystem::path database() const { return folder.path() / "torchwatch.sqlite"; }

  std::filesystem::path backup() const { return folder.path() / "tonight.backup"; }

  void back_up() const {
    storage::back_up(database(), backup(), storage::IfExists::refuse).value();
  }

  /// Restores the backup an hour later.
  void restore() {
    clock.time += std::chrono::hours{1};
    store.reset();
    storage::restore(backup(), database(), storage::IfExists::replace, clock.now()).value();
    open_store();
  }

  /// Opens, explains and fixes the incident, an hour after the other, and sends each message.
  void live(std::string const& bisection) {
    open_incident();
    send_all();
    clock.time += std::chrono::hours{1};
    detail = bisection;
    happen(Kind::explained, State::explained);
    send_all();
    clock.time += std::chrono::hours{1};
    detail = "between aaaaaaaaaaaa and bbbbbbbbbbbb";
    happen(Kind::fixed, State::fixed);
    send_all();
    detail.clear();
  }
};

TEST_F(RestoreTest, MessagesThatTheBackupHasUnsent_AreRecognized) {
  open_incident();
  happen(Kind::explained, State::explained);
  back_up();
  send_all();
  auto const sent = comments();
  ASSERT_THAT(sent, SizeIs(1));

  restore();
  send_all();

  EXPECT_THAT(hub.state().at("issues"), SizeIs(1));
  EXPECT_EQ(comments(), sent);
  EXPECT_THAT(store->outbox().unfinished(), IsEmpty());
  EXPECT_EQ(store->incidents().find(IncidentId{1})->report,
            "https://github.com/pytorch/pytorch/issues/1");
}

TEST_F(RestoreTest, EventsThatHappenAgain_AreNotPublishedAgain) {
  back_up();
  live("bisection 1");
  auto const sent = comments();
  auto const body = issue().at("body").get<std::string>();
  ASSERT_THAT(sent, SizeIs(2));

  restore();
  live("bisection 2");

  EXPECT_THAT(hub.state().at("issues"), SizeIs(1));
  EXPECT_EQ(comments(), sent);
  EXPECT_EQ(issue().at("state"), "closed");
  EXPECT_EQ(github::event_marker_in(issue().at("body").get<std::string>()),
            github::event_marker_in(body));
}

TEST_F(RestoreTest, EventsOfTheSameKind_AreToldApart) {
  auto const live_twice = [this] {
    open_incident();
    for (int times = 0; times < 2; ++times) {
      happen(Kind::fixed, State::fixed);
      send_all();
      happen(Kind::returned, State::returned);
      send_all();
    }
  };
  back_up();
  live_twice();
  auto const sent = comments();
  ASSERT_THAT(sent, SizeIs(4));

  restore();
  live_twice();

  EXPECT_EQ(comments(), sent);
}

TEST_F(RestoreTest, NewsAfterTheRestore_ArePublished) {
  open_incident();
  send_all();
  back_up();
  happen(Kind::explained, State::explained);
  send_all();

  restore();
  happen(Kind::fixed, State::fixed);
  send_all();

  EXPECT_THAT(comments(), SizeIs(2));
  EXPECT_THAT(comments().back(), HasSubstr("**Fixed**"));
  EXPECT_THAT(issue().at("body").get<std::string>(), HasSubstr("**Fixed**"));
  EXPECT_EQ(issue().at("state"), "closed");
}

TEST_F(RestoreTest, IssueWithOtherFigures_IsEditedLater) {
  back_up();
  open_incident();
  send_all();
  auto const other = issue().at("body").get<std::string>() + "\nother figures";
  change({{"changed", {{"1", {{"body", other}}}}}});

  restore();
  open_incident();
  send_all();
  happen(Kind::explained, State::explained);
  send_all();

  EXPECT_THAT(hub.state().at("issues"), SizeIs(1));
  EXPECT_THAT(comments(), SizeIs(1));
  EXPECT_THAT(comments().front(), Not(HasSubstr("The description was edited by a user")));
  EXPECT_THAT(issue().at("body").get<std::string>(), Not(HasSubstr("other figures")));
}

TEST_F(RestoreTest, BodyThatAUserEditedBeforeTheBackup_Stays) {
  open_incident();
  happen(Kind::explained, State::explained);
  send_all();
  auto const edited = issue().at("body").get<std::string>() + "\nby hand";
  change({{"changed", {{"1", {{"body", edited}}}}}});
  back_up();

  restore();
  happen(Kind::fixed, State::fixed);
  send_all();

  EXPECT_EQ(issue().at("body"), edited);
}

TEST_F(RestoreTest, IssueThatListsDoNotShowYet_IsNotFiledAgain) {
  open_incident();
  back_up();
  change({{"settings", {{"lag_s", 3600}}}});
  static_cast<void>(send());
  ASSERT_THAT(hub.state().at("issues"), SizeIs(1));
  store.reset();
  storage::restore(backup(), database(), storage::IfExists::replace, clock.now()).value();
  open_store();
  on_wait = [this, end = clock.time + std::chrono::seconds{60}] {
    if (clock.time >= end) change({{"settings", {{"lag_s", 0}}}});
  };

  send_all();

  EXPECT_THAT(hub.state().at("issues"), SizeIs(1));
}

}  // namespace
}  // namespace torchwatch::report
