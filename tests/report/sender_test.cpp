// The outbox at a GitHub whose responses are lost and whose lists lag, by a service that is killed.

#include "daemon/report/sender.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <exception>
#include <fstream>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "daemon/report/email.h"
#include "daemon/report/refusals.h"
#include "daemon/report/webhook.h"
#include "github/issue.h"
#include "tests/captured_log.h"
#include "tests/fakes/memory/executioner.h"
#include "tests/report/publishing.h"
#include "tests/temporary_folder.h"

namespace torchwatch::report {
namespace {

using nlohmann::json;
using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;
using testing::AllOf;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::StartsWith;
using Kind = IncidentEventKind;
using State = IncidentState;

/// Kills the service when it has sent a request of this method, and GitHub has done it.
class KilledAfter final : public github::Transport {
 public:
  KilledAfter(fakes::FakeGithub& github, std::string& method)
      : transport_{github},
        method_{method} {}

  boost::asio::awaitable<Result<github::Response>> send(github::Request request) override {
    bool const is_last = request.method == method_;
    auto answer = co_await transport_.send(std::move(request));
    if (is_last) {
      method_.clear();
      throw std::runtime_error("killed");
    }
    co_return answer;
  }

 private:
  fakes::DirectTransport transport_;
  std::string& method_;
};

/// Incidents that are published as issues.
class SenderTest : public testing::Test, public Publishing {
 protected:
  /// Lists show new issues only after so much waiting.
  void lag(seconds duration) {
    change({{"settings", {{"lag_s", 3600}}}});
    on_wait = [this, end = clock.time + duration] {
      if (clock.time >= end) change({{"settings", {{"lag_s", 0}}}});
    };
  }

  /// A GitHub without the faults of `hub`.
  fakes::FakeGithub mended_hub{""};

  void kill_after(std::string method) {
    killed_after_ = std::move(method);
    open_transport = [this] {
      return std::make_unique<KilledAfter>(hub, killed_after_);
    };
    EXPECT_THROW(send().value(), std::exception);
  }

  std::ptrdiff_t requests(std::string const& method) const {
    auto const state = hub.state();
    auto const& all = state.at("requests");
    return std::count_if(all.begin(), all.end(), [&](json const& request) {
      return request.at("method") == method;
    });
  }

  std::vector<std::string> failures() {
    std::vector<std::string> texts;
    for (auto const& entry : store->outbox().of(IncidentId{1}))
      texts.push_back(entry.failure);
    return texts;
  }

 private:
  std::string killed_after_;
};

TEST_F(SenderTest, FilesEditsCommentsAndClosesTheIssue) {
  open_incident();
  happen(Kind::explained, State::explained);
  happen(Kind::fixed, State::fixed);
  ASSERT_TRUE(send());

  EXPECT_THAT(hub.state().at("issues"), SizeIs(1));
  auto const sent = sent_to("github");
  ASSERT_THAT(sent, SizeIs(6));
  EXPECT_EQ(issue().at("body"), sent.at(3).message.body) << "the newest body";
  EXPECT_EQ(issue().at("state"), "closed");
  EXPECT_EQ(issue().at("state_reason"), "completed");
  EXPECT_THAT(comments(), ElementsAre(sent.at(2).message.body, sent.at(4).message.body));
  EXPECT_THAT(store->outbox().unfinished(), IsEmpty());
  auto const incident = store->incidents().find(IncidentId{1}).value();
  EXPECT_EQ(incident.report, "https://github.com/pytorch/pytorch/issues/1");
  EXPECT_EQ(incident.report_key, github::key_in(issue().at("body").get<std::string>()));
}

TEST_F(SenderTest, ReopensTheIssueOfAReturnedIncident) {
  open_incident();
  happen(Kind::fixed, State::fixed);
  ASSERT_TRUE(send());
  happen(Kind::returned, State::returned);
  ASSERT_TRUE(send());

  EXPECT_THAT(hub.state().at("issues"), SizeIs(1));
  EXPECT_EQ(issue().at("state"), "open");
  EXPECT_EQ(issue().at("state_reason"), "reopened");
  EXPECT_THAT(comments().back(), HasSubstr("**Returned**"));
}

TEST_F(SenderTest, ClosesARuledIncidentAsNotPlanned) {
  open_incident();
  happen(Kind::ruled, State::accepted);
  ASSERT_TRUE(send());
  EXPECT_EQ(issue().at("state_reason"), "not_planned");
}

TEST_F(SenderTest, LeavesABodyThatAUserEditedAndComments) {
  open_incident();
  ASSERT_TRUE(send());
  change({{"changed", {{"1", {{"body", "edited by a user"}}}}}});
  happen(Kind::fix_expected, State::fix_expected);
  happen(Kind::stale, State::stale);
  ASSERT_TRUE(send());

  EXPECT_EQ(issue().at("body"), "edited by a user");
  auto const all = comments();
  ASSERT_THAT(all, SizeIs(3)) << "two bodies and the comment of the second event";
  EXPECT_THAT(all[0],
              AllOf(StartsWith("<!-- torchwatch-event: "),
                    HasSubstr("The description was edited by a user"),
                    HasSubstr("**Fix expected**")));
}

TEST_F(SenderTest, DoesNotTakeLineBreaksOfGithubsEditorForAnEdit) {
  open_incident();
  ASSERT_TRUE(send());
  std::string saved;
  for (char const c : issue().at("body").get<std::string>())
    saved += c == '\n' ? std::string{"\r\n"} : std::string{c};
  change({{"changed", {{"1", {{"body", saved}}}}}});
  happen(Kind::fix_expected, State::fix_expected);
  ASSERT_TRUE(send());

  EXPECT_THAT(issue().at("body").get<std::string>(), HasSubstr("**Fix expected**"));
  EXPECT_THAT(comments(), IsEmpty());
}

TEST_F(SenderTest, LeavesAnIssueThatAUserClosed) {
  open_incident();
  ASSERT_TRUE(send());
  change({{"changed", {{"1", {{"state", "closed"}, {"state_reason", "not_planned"}}}}}});
  happen(Kind::fixed, State::fixed);
  ASSERT_TRUE(send());
  EXPECT_EQ(issue().at("state_reason"), "not_planned");
}

TEST_F(SenderTest, WaitsForALaggingListAfterALostResponse) {
  open_incident();
  lag(seconds{60});
  fail({{"method", "POST"}, {"path", "/issues"}, {"after", true}, {"status", 502}});
  ASSERT_TRUE(send());
  EXPECT_EQ(requests("POST"), 1);
}

TEST_F(SenderTest, FilesOneIssueThoughItIsKilledBeforeTheResponse) {
  open_incident();
  lag(seconds{90});
  kill_after("POST");
  clock.time += seconds{5};
  EXPECT_TRUE(store->outbox().find(1)->sent_at) << "it was stored before";

  ASSERT_TRUE(send());
  EXPECT_EQ(requests("POST"), 1);
  EXPECT_THAT(hub.state().at("issues"), SizeIs(1));
}

TEST_F(SenderTest, RecognizesAnEditAfterAKill) {
  open_incident();
  ASSERT_TRUE(send());
  happen(Kind::fix_expected, State::fix_expected);
  kill_after("PATCH");
  auto const body = issue().at("body").get<std::string>();
  change({{"changed", {{"1", {{"body", body + "\nedited by a user"}}}}}});
  ASSERT_TRUE(send());

  EXPECT_EQ(requests("PATCH"), 1);
  EXPECT_THAT(comments(), IsEmpty());
  EXPECT_THAT(issue().at("body").get<std::string>(), HasSubstr("edited by a user"));
}

/// Sends with a kill before the write after `writes`, then again. False: it was not killed.
bool is_killed_and_arrives_once(int writes) {
  Publishing incident;
  incident.open_incident();
  incident.happen(Kind::stale, State::stale);
  fakes::Executioner executioner{incident.folder.path() / "torchwatch.sqlite"};
  executioner.grant(writes);
  bool was_killed = false;
  try {
    incident.send().value();
  } catch (std::exception const&) {
    was_killed = true;
  }
  executioner.grant(1'000'000);
  EXPECT_TRUE(!was_killed || incident.send()) << "after " << writes << " writes";
  EXPECT_THAT(incident.hub.state().at("issues"), SizeIs(1)) << "after " << writes << " writes";
  EXPECT_THAT(incident.comments(), SizeIs(1)) << "after " << writes << " writes";
  EXPECT_THAT(incident.issue().at("body").get<std::string>(), HasSubstr("**No longer measured**"));
  EXPECT_THAT(incident.store->outbox().unfinished(), IsEmpty());
  return was_killed;
}

TEST(SenderKills, SendEachMessageOnceWhereverItIsKilled) {
  int kills = 0;
  while (is_killed_and_arrives_once(kills))
    ++kills;
  EXPECT_GE(kills, 6) << "key, time of sending, address and end of the first; then the others";
}

TEST_F(SenderTest, KeepsTheOrderOfAnIncidentAndDelaysNoOther) {
  Publishing two{2};
  two.open_incident(1);
  two.happen(Kind::explained, State::explained, 1);
  two.open_incident(2);
  two.fail({{"method", "POST"}, {"path", "/issues"}, {"status", 422}, {"message", "spammed"}});
  EXPECT_FALSE(two.send()) << "a report failed";

  EXPECT_THAT(two.hub.state().at("issues"), SizeIs(1));
  EXPECT_FALSE(two.sent_to("github", 1).at(0).done_at);
  EXPECT_EQ(two.sent_to("github", 1).at(1).attempts, 0) << "it waits for the issue";
  EXPECT_TRUE(two.sent_to("github", 2).at(0).done_at);

  two.send_all();
  EXPECT_THAT(two.store->outbox().unfinished(), IsEmpty());
  EXPECT_THAT(two.comments(2), SizeIs(1)) << "issue 2 is of incident 1";
}

TEST_F(SenderTest, TriesAgainAfterLongerAndLongerPauses) {
  open_incident();
  change({{"settings", {{"token", "another"}}}});
  std::vector<seconds> pauses;
  for (int attempt = 0; attempt < 12; ++attempt) {
    EXPECT_FALSE(send());
    auto const entry = store->outbox().find(1).value();
    EXPECT_EQ(entry.attempts, attempt + 1);
    pauses.push_back(entry.next_at.value() - clock.time);
    EXPECT_TRUE(send()) << "it is not due";
    clock.time = entry.next_at.value();
  }
  EXPECT_EQ(pauses.front(), minutes{1});
  EXPECT_EQ(pauses[1], minutes{2});
  EXPECT_EQ(pauses[8], minutes{256});
  EXPECT_THAT(std::vector<seconds>(pauses.begin() + 9, pauses.end()), Each(seconds{hours{6}}));
  EXPECT_THAT(alarms(), ElementsAre("credentials"));
  EXPECT_THAT(failures(), ElementsAre(HasSubstr("Bad credentials")));

  change({{"settings", {{"token", "ghp_SecretOfTheService"}}}});
  EXPECT_TRUE(send());
  EXPECT_THAT(alarms(), IsEmpty()) << "it arrived";
}

TEST_F(SenderTest, GivesUpWhatIsRejectedForThreeDays) {
  open_incident();
  fail({{"method", "POST"}, {"path", "/issues"}, {"status", 422}, {"times", 100}});
  auto const begin = clock.time;
  send_all();
  EXPECT_THAT(store->outbox().unfinished(), IsEmpty());
  EXPECT_THAT(alarms(), SizeIs(1)) << "one alarm for the refusal and its end";
  EXPECT_GE(clock.time - begin, hours{72});
}

TEST_F(SenderTest, DoesNotCountDaysWithoutAReplyAsRejections) {
  open_incident();
  fail({{"times", 100'000}, {"drop", true}});
  for (int attempt = 0; attempt < 40; ++attempt) {
    static_cast<void>(send());
    clock.time += hours{6};
  }
  open_transport = [this] {
    return std::make_unique<fakes::DirectTransport>(mended_hub);
  };
  mended_hub.control({{"faults", json::array({{{"method", "POST"}, {"status", 422}}})}},
                     fakes::DirectTransport::host());
  EXPECT_FALSE(send());
  EXPECT_THAT(store->outbox().unfinished(), SizeIs(1)) << "three days begin now";
  clock.time += hours{6};
  EXPECT_TRUE(send());
  EXPECT_THAT(mended_hub.state().at("issues"), SizeIs(1));
}

TEST_F(SenderTest, SendsWhatFollowsAMessageThatIsRejectedForThreeDays) {
  open_incident();
  ASSERT_TRUE(send());
  happen(Kind::fixed, State::fixed);
  fail({{"method", "POST"}, {"path", "/issues/1/comments"}, {"status", 422}, {"times", 100}});
  send_all();

  EXPECT_THAT(comments(), IsEmpty());
  EXPECT_EQ(issue().at("state"), "closed") << "the comment comes before it";
  EXPECT_THAT(store->outbox().unfinished(), IsEmpty());
}

TEST_F(SenderTest, SendsAtOnceWhatAnOperatorMendsBeforeAStart) {
  open_incident();
  change({{"settings", {{"issues", false}}}});
  ASSERT_FALSE(send());
  change({{"settings", {{"issues", true}}}});
  refused_until = std::make_shared<Timestamp>();
  ASSERT_TRUE(send()) << "it is not due";
  ASSERT_THAT(hub.state().at("issues"), IsEmpty());

  store->outbox().retry_now();  // as check and serve do first
  ASSERT_TRUE(send());
  EXPECT_THAT(hub.state().at("issues"), SizeIs(1));
}

TEST_F(SenderTest, RaisesItsAlarmThoughGithubRefusesAnotherReport) {
  open_incident();
  note_refusal(*store, github::Refusal::permission, "incident 7", "HTTP 403", clock.time);
  fail({{"times", 100'000}, {"drop", true}});
  for (int attempt = 0; attempt < 6; ++attempt) {
    static_cast<void>(send());
    clock.time += hours{6};
  }
  EXPECT_THAT(alarms(), testing::UnorderedElementsAre("permission: incident 7", "github"));
}

TEST_F(SenderTest, NeverGivesUpForAWrongToken) {
  open_incident();
  change({{"settings", {{"token", "another"}}}});
  send_all();
  EXPECT_THAT(store->outbox().unfinished(), SizeIs(1));
  EXPECT_THAT(alarms(), ElementsAre("credentials"));
}

TEST_F(SenderTest, NeverGivesUpAGithubThatDoesNotReply) {
  open_incident();
  fail({{"times", 100'000}, {"drop", true}});
  for (int attempt = 0; attempt < 40; ++attempt) {
    static_cast<void>(send());
    clock.time += hours{6};
  }
  EXPECT_THAT(store->outbox().unfinished(), SizeIs(1));
  EXPECT_THAT(alarms(), ElementsAre("github"));
}

TEST_F(SenderTest, GivesUpAnIssueThatWasDeletedWithOneAlarm) {
  open_incident();
  ASSERT_TRUE(send());
  change({{"deleted", json::array({1})}});
  happen(Kind::explained, State::explained);
  happen(Kind::fixed, State::fixed);
  ASSERT_TRUE(send());

  EXPECT_THAT(store->outbox().unfinished(), IsEmpty());
  EXPECT_THAT(alarms(), ElementsAre("deleted: incident 1"));
  EXPECT_THAT(failures().back(), HasSubstr("the issue was deleted"));
  EXPECT_THAT(hub.state().at("issues"), SizeIs(1)) << "no second issue";
}

TEST_F(SenderTest, SaysThatLabelsWereDropped) {
  tests::CapturedLog const log;
  change({{"settings", {{"push", false}, {"triage", true}}}});
  open_incident();
  fail({{"method", "POST"}, {"path", "/issues"}, {"after", true}, {"status", 502}});
  ASSERT_TRUE(send());

  EXPECT_THAT(hub.state().at("issues"), SizeIs(1));
  EXPECT_THAT(log.text(),
              AllOf(HasSubstr("label_dropped issue=https://github.com/pytorch/pytorch/issues/1 "
                              "label=\"torchbench-perf-report\""),
                    HasSubstr("alarm_raised kind=label_dropped")));
  auto const open = store->alarms().open();
  ASSERT_THAT(open, SizeIs(1));
  EXPECT_EQ(open.front().kind, AlarmKind::label_dropped);
}

TEST_F(SenderTest, KeepsALongPauseOverRestartsAndSendsNothing) {
  open_incident();
  fail({{"method", "POST"},
        {"status", 403},
        {"message", "You have exceeded a secondary rate limit."},
        {"headers", {{"retry-after", "90"}}}});
  ASSERT_FALSE(send());
  auto const sent = hub.state().at("requests").size();

  clock.time += seconds{89};
  EXPECT_THAT(send().error().message, HasSubstr("GitHub asked for no request before"));
  EXPECT_THAT(hub.state().at("requests"), SizeIs(sent));

  clock.time += minutes{2};
  ASSERT_TRUE(send());
  EXPECT_THAT(hub.state().at("issues"), SizeIs(1));
}

TEST_F(SenderTest, MasksTheToken) {
  open_incident();
  fail({{"status", 401}, {"message", "Bad credentials: ghp_SecretOfTheService"}});
  EXPECT_THAT(send().error().message, HasSubstr("Bad credentials: [token]"));
  EXPECT_THAT(failures(), ElementsAre(HasSubstr("[token]")));
}

TEST_F(SenderTest, NeedsAToken) {
  ::unsetenv("TORCHWATCH_TEST_TOKEN");
  open_incident();
  EXPECT_FALSE(send());
  EXPECT_THAT(hub.state().at("requests"), IsEmpty());
}

TEST_F(SenderTest, WritesAFileWithoutARepository) {
  options.github.repository.clear();
  open_incident();
  happen(Kind::stale, State::stale);
  ASSERT_TRUE(send());

  auto const place = store->incidents().find(IncidentId{1})->report;
  EXPECT_EQ(place, (folder.path() / "reports" / "incident-1.md").string());
  std::ifstream file{place};
  std::string const text{std::istreambuf_iterator<char>{file}, {}};
  EXPECT_EQ(text, sent_to("file").back().message.body) << "what was stored";
  EXPECT_THAT(text, AllOf(StartsWith("# "), HasSubstr("**No longer measured**")));
  EXPECT_THAT(hub.state().at("requests"), IsEmpty());
}

TEST_F(SenderTest, SaysWhyAFileCannotBeWritten) {
  options.github.repository.clear();
  std::ofstream{folder.path() / "reports"} << "no directory";
  open_incident();
  EXPECT_THAT(send().error().message, HasSubstr("incident-1.md"));
  EXPECT_THAT(alarms(), ElementsAre("file")) << "at once";
}

/// Incidents that are published to a webhook only.
class WebhookTest : public SenderTest {
 protected:
  WebhookTest() {
    auto const secret = folder.path() / "secret";
    std::ofstream{secret} << "0123456789abcdef";
    options.publish.webhook.url = "https://hooks.example/private/path";
    options.publish.webhook.secret_file = secret.string();
  }

  void reply(int status) { web.replies.emplace_back(github::Response{status, {}, {}}); }
};

TEST_F(WebhookTest, GetsSignedJson) {
  reply(204);
  open_incident();
  ASSERT_TRUE(send());

  ASSERT_THAT(web.sent, SizeIs(1));
  auto const& request = web.sent.front();
  EXPECT_EQ(request.method, "POST");
  EXPECT_EQ(request.url, "https://hooks.example/private/path");
  EXPECT_EQ(request.body, sent_to("webhook").front().message.body);
  EXPECT_EQ(request.headers.at("X-Torchwatch-Signature-256"),
            signature_of(request.body, "0123456789abcdef"));
  EXPECT_EQ(request.headers.at("X-Torchwatch-Delivery"),
            json::parse(request.body).at("id").get<std::string>());
  EXPECT_EQ(sent_to("webhook").front().place, "https://hooks.example:443") << "no secret path";
}

TEST_F(WebhookTest, GetsTheSameMessageAgainAfterAFailure) {
  reply(503);
  reply(200);
  open_incident();
  ASSERT_FALSE(send());
  EXPECT_THAT(sent_to("webhook").front().failure, HasSubstr("https://hooks.example:443: HTTP 503"));
  EXPECT_THAT(hub.state().at("issues"), SizeIs(1)) << "the issue does not wait for it";
  clock.time += minutes{1};
  ASSERT_TRUE(send());

  ASSERT_THAT(web.sent, SizeIs(2));
  EXPECT_EQ(web.sent[0].headers, web.sent[1].headers);
  EXPECT_EQ(web.sent[0].body, web.sent[1].body);
}

TEST_F(WebhookTest, IsGivenUpWithAnAlarmForAWeek) {
  open_incident();
  constexpr std::size_t attempts = 13;  // every six hours for three days
  for (std::size_t times = 0; times < attempts; ++times)
    reply(404);
  send_all();
  EXPECT_THAT(store->outbox().unfinished(), IsEmpty());
  EXPECT_THAT(web.sent, SizeIs(attempts));
  EXPECT_THAT(alarms(), ElementsAre("webhook", "incident 1 at webhook"));

  reply(200);
  happen(Kind::fixed, State::fixed);
  clock.time += hours{8 * 24};
  ASSERT_TRUE(send());
  EXPECT_THAT(alarms(), IsEmpty()) << "a message arrived, and a week has passed";
}

TEST(Signature, IsThatOfGithubsWebhooks) {
  std::string const secret =
      "It's a Secret to Every"
      "body";
  EXPECT_EQ(signature_of("Hello, World!", secret),
            "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17");
}

OutboxMessage email_message() {
  OutboxMessage message;
  message.title = "fixed: caf\u00e9";
  message.body = "A line = 76.\n\n" + std::string(100, 'x') + " \n";
  message.marker = "<!-- torchwatch-event: 0123 -->";
  return message;
}

config::EmailOptions email_options() {
  config::EmailOptions options;
  options.to = {"ada@example.org", "bob@example.org"};
  options.from = "torchwatch@perf.example.org";
  return options;
}

TEST(Email, IsAMessageInUtf8) {
  auto const text =
      email_of(email_message(), email_options(), "<!-- torchwatch-event: 89ab -->", tests::early);
  EXPECT_EQ(text,
            "From: torchwatch <torchwatch@perf.example.org>\n"
            "To: ada@example.org,\n bob@example.org\n"
            "Subject: =?utf-8?Q?=5Btorchwatch=5D_fixed=3A_?=\n =?utf-8?Q?caf=C3=A9?=\n"
            "Date: Fri, 02 Jan 2026 03:04:05 +0000\n"
            "Message-ID: <0123@perf.example.org>\n"
            "In-Reply-To: <89ab@perf.example.org>\n"
            "References: <89ab@perf.example.org>\n"
            "Auto-Submitted: auto-generated\n"
            "MIME-Version: 1.0\n"
            "Content-Type: text/plain; charset=utf-8\n"
            "Content-Transfer-Encoding: quoted-printable\n\n"
            "A line =3D 76.\n\n" +
                std::string(75, 'x') + "=\n" + std::string(25, 'x') + "=20\n");
}

TEST(Email, ThatIsTheFirstBeginsAThread) {
  auto const first = email_message();
  EXPECT_THAT(email_of(first, email_options(), first.marker, tests::early),
              testing::Not(HasSubstr("In-Reply-To")));
}

TEST_F(SenderTest, HandsEmailsToSendmail) {
  tests::TemporaryFolder const programs;
  options.publish.email = email_options();
  auto const program = programs / "sendmail";
  std::ofstream{program} << "#!/bin/sh\ncat > " << (folder.path() / "mail").string()
                         << "\necho \"$@\" > " << (folder.path() / "arguments").string() << "\n";
  std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  options.publish.email.sendmail = program.string();
  open_incident();
  ASSERT_TRUE(send());

  std::ifstream mail{folder.path() / "mail"};
  std::string const text{std::istreambuf_iterator<char>{mail}, {}};
  EXPECT_THAT(text,
              AllOf(StartsWith("From: torchwatch <torchwatch@perf.example.org>\n"),
                    HasSubstr("\nSubject: "),
                    testing::EndsWith("\n")));
  std::ifstream arguments{folder.path() / "arguments"};
  std::string line;
  std::getline(arguments, line);
  EXPECT_EQ(line, "-i -f torchwatch@perf.example.org -- ada@example.org bob@example.org");
}

TEST_F(SenderTest, SaysWhySendmailFailed) {
  tests::TemporaryFolder const programs;
  options.publish.email = email_options();
  auto const program = programs / "sendmail";
  std::ofstream{program} << "#!/bin/sh\necho 'queue is full' >&2\nexit 75\n";
  std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  options.publish.email.sendmail = program.string();
  open_incident();
  ASSERT_FALSE(send());
  EXPECT_THAT(sent_to("email").front().failure,
              AllOf(HasSubstr("sendmail: exit status 75"), HasSubstr("queue is full")));
}

TEST_F(SenderTest, CommentsOnThePullRequestOfTheCulpritOnce) {
  json const pull_request{{"pull_request", json::object()},
                          {"html_url", "https://github.com/pytorch/pytorch/pull/1"}};
  change({{"issues", json::array({pull_request})}});
  options.publish.pull_request_comment = true;
  open_incident();
  IncidentEvent event;
  event.incident = IncidentId{1};
  event.kind = Kind::explained;
  event.state = State::explained;
  event.at = clock.now();
  OutboxMessage message;
  message.destination = "pull_request";
  message.title = "https://github.com/pytorch/pytorch/pull/1";
  message.marker = "<!-- torchwatch-event: 0123 -->";
  message.body = message.marker + "\nculprit";
  store->incident_events().add(event, {message});
  fail({{"method", "POST"}, {"path", "/issues/1/comments"}, {"after", true}, {"status", 502}});
  ASSERT_TRUE(send());

  EXPECT_THAT(comments(1), ElementsAre(message.body));
  EXPECT_EQ(sent_to("pull_request").front().place,
            "https://github.com/pytorch/pytorch/pull/1#issuecomment-1");
}

TEST_F(SenderTest, NeverGivesUpTheCommentOnAPullRequestForAWrongToken) {
  options.publish.pull_request_comment = true;
  open_incident();
  ASSERT_TRUE(send());
  IncidentEvent event;
  event.incident = IncidentId{1};
  event.kind = Kind::explained;
  OutboxMessage message;
  message.destination = "pull_request";
  message.title = "https://github.com/pytorch/pytorch/pull/1";
  message.marker = "<!-- torchwatch-event: 0123 -->";
  message.body = message.marker + "\nculprit";
  store->incident_events().add(event, {message});
  change({{"settings", {{"token", "another"}}}});
  send_all();

  EXPECT_THAT(store->outbox().unfinished(), SizeIs(1));
  EXPECT_THAT(alarms(), testing::Contains("credentials"));
}

}  // namespace
}  // namespace torchwatch::report
