#include "daemon/report/publisher.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <utility>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "daemon/report/feedback.h"
#include "daemon/report/rulings.h"
#include "github/issue.h"
#include "storage/base/printable.h"
#include "tests/api/stored_story.h"
#include "tests/fakes/github/fake_transport.h"
#include "tests/fakes/github/run.h"
#include "tests/fakes/memory/world.h"

namespace torchwatch::report {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

/// Passes every request on to a transport that outlives it.
class Borrowed final : public github::Transport {
 public:
  explicit Borrowed(github::Transport& transport) : transport_{transport} {}

  boost::asio::awaitable<Result<github::Response>> send(github::Request request) override {
    return transport_.send(std::move(request));
  }

 private:
  github::Transport& transport_;
};

class ReportTest : public testing::Test {
 protected:
  ReportTest() {
    tests::store_story(store);
    github_options.token_env = "TORCHWATCH_TEST_TOKEN";
    ::setenv("TORCHWATCH_TEST_TOKEN", "secret", 1);
  }

  Network network() {
    return {[this] { return std::make_unique<Borrowed>(transport); }, clock, no_wait};
  }

  static boost::asio::awaitable<void> no_wait(std::chrono::seconds) { co_return; }

  /// The repository and the token's user.
  void reply_who() {
    reply(200, {{"permissions", {{"push", true}}}});
    reply(200, {{"login", "bot"}});
  }

  /// The lists by label and by creator, without an issue.
  void reply_nothing_found() {
    reply(200, nlohmann::json::array());
    reply(200, nlohmann::json::array());
  }

  nlohmann::json issue(std::string const& body) const {
    return {{"number", 7},
            {"html_url", "https://github.com/o/r/issues/7"},
            {"labels", nlohmann::json::array()},
            {"user", {{"login", "bot"}}},
            {"body", body}};
  }

  Result<std::string> publish() {
    Publisher publisher{github_options, store, folder.path(), network()};
    auto incident = store.incidents().all().at(0);
    incident.report.clear();
    return fakes::run(publisher.publish(std::move(incident)));
  }

  /// Publishes the result of the story's bisection, after its incident was reported at `place`.
  Result<> publish_update(std::string const& place = "https://github.com/o/r/issues/7") {
    store.incidents().intend_report(IncidentId{1}, draft().key);
    store.incidents().reported(IncidentId{1}, place, {});
    Publisher publisher{github_options, store, folder.path(), network()};
    auto pending = store.bisections().pending_updates();
    return fakes::run(publisher.publish_update(pending.at(0)));
  }

  void reply_issue() {
    reply(200,
          {{"body", draft().body},
           {"html_url", "https://github.com/o/r/issues/7"},
           {"comments_url", "https://api.github.com/repos/o/r/issues/7/comments"}});
  }

  Result<> collect() {
    Feedback feedback{github_options, store, network()};
    return fakes::run(feedback.collect());
  }

  github::IssueDraft draft() {
    return github::draft_issue(storage::story_of(store, store.incidents().all().at(0)), {});
  }

  void reply(int status, nlohmann::json const& body) {
    transport.replies.emplace_back(github::Response{status, {}, body.dump()});
  }

  fakes::MemoryFolder folder;
  storage::Store store = storage::Store::open(folder.path() / "db").value();
  fakes::TestClock clock;
  config::GithubOptions github_options;
  fakes::FakeTransport transport;
};

TEST_F(ReportTest, IsAFileWhereNoRepositoryIsConfigured) {
  auto const place = publish().value();

  EXPECT_EQ(place, (folder.path() / "reports" / "incident-1.md").string());
  std::ostringstream text;
  text << std::ifstream{place}.rdbuf();
  EXPECT_THAT(text.str(), HasSubstr("# "));
  EXPECT_EQ(store.incidents().all().at(0).report, place);
  EXPECT_THAT(transport.sent, IsEmpty());
}

TEST_F(ReportTest, IsValidUtf8WhateverACommitHolds) {
  auto bisection = store.bisections().of_incident(IncidentId{1}).at(0);
  bisection.findings.at(0).suspects.at(0).subject = "Fuse caf\xe9 \u202e bias";
  store.bisections().update(bisection);

  std::ostringstream report;
  report << std::ifstream{publish().value()}.rdbuf();

  EXPECT_THAT(report.str(), HasSubstr("Fuse caf\\xe9 \\u202e bias"));
  EXPECT_EQ(printable_lines(report.str()), report.str());
}

TEST_F(ReportTest, SaysWhyItCannotBeWritten) {
  std::ofstream{folder.path() / "reports"} << "no directory";
  EXPECT_THAT(publish().error().message, HasSubstr("incident-1.md"));
}

TEST_F(ReportTest, IsPublishedOnce) {
  Publisher publisher{github_options, store, folder.path(), network()};
  Incident incident;
  incident.report = "https://github.com/o/r/issues/7";
  EXPECT_EQ(fakes::run(publisher.publish(incident)).value(), incident.report);
}

TEST_F(ReportTest, IsAnIssueWhereARepositoryIsConfigured) {
  github_options.repository = "o/r";
  reply_who();
  reply_nothing_found();
  reply(201, issue(draft().body));
  auto const url = publish().value();

  EXPECT_EQ(url, "https://github.com/o/r/issues/7");
  EXPECT_EQ(store.incidents().all().at(0).report, url);
  EXPECT_THAT(store.bisections().pending_updates(), IsEmpty())
      << "the issue contains all that ended";
  ASSERT_THAT(transport.sent, SizeIs(5));
  EXPECT_EQ(transport.sent[4].method, "POST");
  EXPECT_THAT(transport.sent[4].headers.at("Authorization"), HasSubstr("secret"));
}

TEST_F(ReportTest, FindsTheIssueThatWasFiledBeforeACrash) {
  github_options.repository = "o/r";
  reply_who();
  reply(200, nlohmann::json::array({issue(draft().body)}));
  EXPECT_EQ(publish().value(), "https://github.com/o/r/issues/7");
  EXPECT_THAT(transport.sent, SizeIs(3)) << "nothing was filed again";
  EXPECT_THAT(store.bisections().pending_updates(), IsEmpty());
}

TEST_F(ReportTest, FindsWhatAnIssueFiledBeforeACrashLacks) {
  github_options.repository = "o/r";
  auto story = storage::story_of(store, store.incidents().all().at(0));
  story.bisections.at(0).state = BisectionState::paused;
  auto const before = github::draft_issue(story, {});
  reply_who();
  reply(200, nlohmann::json::array({issue(before.body)}));
  ASSERT_TRUE(publish());

  EXPECT_THAT(store.bisections().pending_updates(), SizeIs(1));
}

TEST_F(ReportTest, IsFollowedByAComment) {
  github_options.repository = "o/r";
  reply_issue();
  reply(200, nlohmann::json::array());
  reply(201, {{"html_url", "https://github.com/o/r/issues/7#issuecomment-1"}});
  ASSERT_TRUE(publish_update());

  ASSERT_THAT(transport.sent, SizeIs(3));
  EXPECT_EQ(transport.sent[2].url, "https://api.github.com/repos/o/r/issues/7/comments");
  EXPECT_THAT(transport.sent[2].body, HasSubstr("Make embedding slower"));
  EXPECT_THAT(store.bisections().pending_updates(), IsEmpty());
}

TEST_F(ReportTest, IsFollowedByACorrectionOnce) {
  github_options.repository = "o/r";
  reply_issue();
  reply(200, nlohmann::json::array());
  reply(201, {{"html_url", "https://github.com/o/r/issues/7#issuecomment-1"}});
  store.incidents().intend_report(IncidentId{1}, draft().key);
  store.incidents().reported(IncidentId{1}, "https://github.com/o/r/issues/7", {});
  store.incidents().correct(IncidentId{1}, std::nullopt, "It was published again.");
  Publisher publisher{github_options, store, folder.path(), network()};
  auto const incident = store.incidents().pending_corrections().at(0);
  ASSERT_TRUE(fakes::run(publisher.publish_correction(incident)));

  ASSERT_THAT(transport.sent, SizeIs(3));
  EXPECT_EQ(transport.sent[2].url, "https://api.github.com/repos/o/r/issues/7/comments");
  EXPECT_THAT(transport.sent[2].body, HasSubstr("It was published again."));
  EXPECT_THAT(store.incidents().pending_corrections(), IsEmpty());
}

TEST_F(ReportTest, IsFollowedByNothingWhereTheIssueIsGone) {
  github_options.repository = "o/r";
  reply(410, {{"message", "This issue was deleted"}});
  reply(200, {{"full_name", "o/r"}});
  ASSERT_TRUE(publish_update());

  EXPECT_THAT(store.bisections().pending_updates(), IsEmpty());
}

TEST_F(ReportTest, IsFollowedLaterWhereGithubCannotBeAsked) {
  github_options.repository = "o/r";
  reply(401, {{"message", "Bad credentials"}});
  EXPECT_THAT(publish_update().error().message, HasSubstr("Bad credentials"));
  EXPECT_THAT(store.bisections().pending_updates(), SizeIs(1));

  github_options.repository.clear();
  EXPECT_TRUE(publish_update());
  EXPECT_THAT(store.bisections().pending_updates(), SizeIs(1));
}

TEST_F(ReportTest, IsRewrittenIfItIsAFile) {
  ASSERT_TRUE(publish_update("/old/place/incident-1.md"));

  auto const place = store.incidents().all().at(0).report;
  EXPECT_EQ(place, (folder.path() / "reports" / "incident-1.md").string());
  std::ostringstream text;
  text << std::ifstream{place}.rdbuf();
  EXPECT_THAT(text.str(), HasSubstr("Make embedding slower"));
  EXPECT_THAT(store.bisections().pending_updates(), IsEmpty());
}

TEST_F(ReportTest, NeedsAToken) {
  github_options.repository = "o/r";
  ::unsetenv("TORCHWATCH_TEST_TOKEN");
  EXPECT_FALSE(publish());
  EXPECT_FALSE(collect());
  EXPECT_THAT(transport.sent, IsEmpty());
}

TEST_F(ReportTest, HasNoFeedbackWithoutARepositoryOrALabel) {
  EXPECT_TRUE(collect());
  github_options.repository = "o/r";
  github_options.false_alarm_label.clear();
  EXPECT_TRUE(collect());
  EXPECT_THAT(transport.sent, IsEmpty());
}

TEST_F(ReportTest, PassesOnWhyGithubCouldNotBeAsked) {
  github_options.repository = "o/r";
  reply(401, {{"message", "Bad credentials"}});
  EXPECT_THAT(collect().error().message, HasSubstr("Bad credentials"));
}

TEST_F(ReportTest, TakesALabelForARulingOnce) {
  github_options.repository = "o/r";
  store.incidents().intend_report(IncidentId{1}, draft().key);
  store.incidents().reported(IncidentId{1}, "https://github.com/o/r/issues/7", {});
  for (int time = 0; time < 2; ++time) {
    reply(200, nlohmann::json::array({issue(draft().body), issue("other")}));
    reply(200, {{"login", "bot"}});
    ASSERT_TRUE(collect());
  }
  auto const rulings = store.rulings().on(IncidentId{1});
  auto const by_github = std::ranges::count(rulings, "GitHub", &Ruling::who);
  EXPECT_EQ(by_github, 1);
}

TEST_F(ReportTest, TakesNoRulingFromAnIssueOfAnotherAuthor) {
  github_options.repository = "o/r";
  store.incidents().intend_report(IncidentId{1}, draft().key);
  store.incidents().reported(IncidentId{1}, "https://github.com/o/r/issues/7", {});
  auto forged = issue(draft().body);
  forged["user"]["login"] = "mallory";
  reply(200, nlohmann::json::array({forged}));
  reply(200, {{"login", "bot"}});
  ASSERT_TRUE(collect());

  EXPECT_THAT(store.rulings().on(IncidentId{1}), IsEmpty());
}

TEST_F(ReportTest, TakesRulings) {
  Ruling ruling;
  ruling.kind = RulingKind::false_alarm;
  ruling.who = "ada";
  ruling.why = "noise";
  ruling.incident = IncidentId{99};
  EXPECT_EQ(give_ruling(store, ruling, clock.now()).error().code, ErrorCode::not_found);
  ruling.incident = IncidentId{1};
  EXPECT_TRUE(give_ruling(store, ruling, clock.now()));

  Ruling mute;
  mute.kind = RulingKind::mute;
  mute.until = clock.now() - std::chrono::seconds{1};
  EXPECT_EQ(give_ruling(store, mute, clock.now()).error().code, ErrorCode::invalid_argument);
}

TEST_F(ReportTest, ClearsADriftThatAUserAccepts) {
  auto const series = store.histories().series().at(0);
  store.alarms().raise(AlarmKind::drift, drift_subject(series), "slower", clock.now());
  Ruling accept;
  accept.kind = RulingKind::accept;
  accept.who = "ada";
  accept.why = "wanted";
  ASSERT_TRUE(give_ruling(store, accept, clock.now()));

  EXPECT_THAT(store.alarms().open(), IsEmpty());
}

}  // namespace
}  // namespace torchwatch::report
