// People answer in an issue of a GitHub whose responses are lost, to a service that is killed.

#include "daemon/report/answers.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <exception>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "daemon/report/sender.h"
#include "tests/api/stored_story.h"
#include "tests/captured_log.h"
#include "tests/fakes/github/direct_transport.h"
#include "tests/fakes/github/run.h"
#include "tests/fakes/memory/executioner.h"
#include "tests/fakes/memory/world.h"

namespace torchwatch::report {
namespace {

using nlohmann::json;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::StartsWith;

constexpr auto issue_1 = "https://github.com/pytorch/pytorch/issues/1";

/// An incident whose issue was filed, its GitHub, and a service that is restarted before each poll.
/// Waiting moves the clock, which begins at the time of the fake GitHub.
class AnsweredIncident {
 public:
  AnsweredIncident() {
    ::setenv("TORCHWATCH_TEST_TOKEN", "ghp_SecretOfTheService", 1);
    clock.time = SystemClock{}.now();
    tests::store_story(store);
    options.github.repository = "pytorch/pytorch";
    options.github.token_env = "TORCHWATCH_TEST_TOKEN";
    change({{"issues", {{{"title", "slower"}, {"body", "x"}}}},
            {"settings", {{"permissions", {{"ada", "write"}}}}}});
    store.incidents().reported(IncidentId{1}, issue_1);
  }

  /// Reads what people did, carries out their commands, and sends the replies.
  Result<> poll() {
    Answers answers{options, store, network(), [this](BisectionOrder order) {
                      return ask(std::move(order));
                    }};
    auto const polled = fakes::run(answers.poll());
    Sender sender{store, clock, destinations_of(options, store, network(), network())};
    auto const sent = fakes::run(sender.send_due());
    return polled ? sent : polled;
  }

  /// Polls again after a minute, when messages that failed are due.
  void poll_twice() {
    std::ignore = poll();
    clock.time += std::chrono::minutes{1};
    auto const second = poll();
    EXPECT_TRUE(second) << second.error().message;
  }

  void comment(std::string const& user, std::string const& body, int issue = 1) {
    json const one{{"issue", issue}, {"user", user}, {"body", body}, {"created_at", now_text()}};
    change({{"comments", json::array({one})}});
  }

  void edit(std::string const& id, std::string const& body) {
    json const members{{"body", body}, {"updated_at", now_text()}};
    change({{"edited", {{id, members}}}});
  }

  void close(std::string const& by, std::string const& reason) {
    json const closing{{"by", by}, {"at", now_text()}, {"state_reason", reason}};
    change({{"closings", {{"1", closing}}}});
  }

  void change(json const& control) { github.control(control, fakes::DirectTransport::host()); }

  void fail(json const& fault) { change({{"faults", json::array({fault})}}); }

  json state() const { return github.state(); }

  json reactions() const { return state().value("reactions", json::array()); }

  /// The texts of our comments.
  std::vector<std::string> replies() const {
    std::vector<std::string> texts;
    auto const all = state();
    for (auto const& comment : all.at("comments"))
      if (comment.at("user").at("login") == "torchwatch-bot")
        texts.push_back(comment.at("body").get<std::string>());
    return texts;
  }

  std::vector<Ruling> rulings() { return store.rulings().on(IncidentId{1}); }

  /// Nothing happened on GitHub or in the store.
  void expect_nothing() {
    EXPECT_THAT(store.rulings().all(), IsEmpty());
    EXPECT_THAT(reactions(), IsEmpty());
    EXPECT_THAT(replies(), IsEmpty());
    EXPECT_THAT(store.bisections().all_in_brief(), SizeIs(2)) << "those of the story";
  }

  fakes::MemoryFolder folder;
  storage::Store store = storage::Store::open(folder.path() / "db").value();
  fakes::TestClock clock;
  fakes::FakeGithub github{""};
  config::Options options;
  bool is_stopping = false;

 private:
  Network network() {
    auto open = [this] {
      return std::make_unique<fakes::DirectTransport>(github);
    };
    return {std::move(open), clock, [this](seconds pause) {
              return wait(pause);
            }};
  }

  boost::asio::awaitable<void> wait(seconds pause) {
    clock.time += pause;
    co_return;
  }

  /// As bisection::Queue does it.
  boost::asio::awaitable<Result<Bisection>> ask(BisectionOrder order) {
    if (is_stopping) co_return Error{ErrorCode::cancelled, "the service is stopping"};
    for (auto& known : store.bisections().not_ended())
      if (known.request.start == order.request.start && known.request.end == order.request.end &&
          known.incident == order.incident)
        co_return known;
    co_return store.bisections().ask(order.request, order.incident, clock.now());
  }

  std::string now_text() const { return github::time_text(clock.now()); }
};

TEST(Answers, StoreARulingWithAReactionAndAReply) {
  AnsweredIncident incident;
  incident.comment("ada", "Thanks!\n/torchwatch accept pays for itself");

  ASSERT_TRUE(incident.poll());

  auto const rulings = incident.rulings();
  ASSERT_THAT(rulings, SizeIs(1));
  EXPECT_EQ(rulings.front().kind, RulingKind::accept);
  EXPECT_EQ(rulings.front().who, "ada");
  EXPECT_EQ(rulings.front().why, std::string{"pays for itself, "} + issue_1 + "#issuecomment-1");
  ASSERT_THAT(incident.reactions(), SizeIs(1));
  EXPECT_EQ(incident.reactions().at(0).at("content"), "eyes");
  ASSERT_THAT(incident.replies(), SizeIs(1));
  EXPECT_EQ(incident.replies().front(),
            "<!-- torchwatch-answer: 1 -->\n`/torchwatch accept pays for itself`: accepted. The "
            "new level is the reference from now on.");
}

TEST(Answers, AreGivenOnceThoughCommentsAreReadAgain) {
  AnsweredIncident incident;
  incident.comment("ada", "/torchwatch false-alarm the host was busy");
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(incident.poll());
    incident.comment("eve", "hello");
  }
  EXPECT_THAT(incident.rulings(), SizeIs(1));
  EXPECT_THAT(incident.replies(), SizeIs(1));
  EXPECT_THAT(incident.reactions(), SizeIs(1));
}

TEST(Answers, CostTwoRequestsWhenNothingChanged) {
  AnsweredIncident incident;
  incident.comment("eve", "hello");
  for (int i = 0; i < 2; ++i)
    ASSERT_TRUE(incident.poll());
  auto const before = incident.state().at("requests").size();

  ASSERT_TRUE(incident.poll());

  auto const requests = incident.state().at("requests");
  ASSERT_THAT(requests, SizeIs(before + 2));
  EXPECT_EQ(requests.at(before).at("status"), 304);
  EXPECT_EQ(requests.at(before + 1).at("status"), 304);
}

TEST(Answers, SendNothingBeforeAnIssueWasFiled) {
  AnsweredIncident incident;
  incident.store.incidents().reported(IncidentId{1}, "/state/reports/incident-1.md");
  auto const before = incident.state().at("requests").size();
  ASSERT_TRUE(incident.poll());
  EXPECT_THAT(incident.state().at("requests"), SizeIs(before));
}

TEST(Answers, IgnorePeopleWithoutWriteAccess) {
  AnsweredIncident incident;
  tests::CapturedLog const log;
  incident.comment("eve", "/torchwatch accept let me in");
  ASSERT_TRUE(incident.poll());
  incident.change({{"settings", {{"permissions", {{"eve", "write"}}}}}});
  ASSERT_TRUE(incident.poll());

  incident.expect_nothing();
  EXPECT_THAT(log.lines_with("comment_ignored incident=1 comment=1 who=\"eve\" reason=\"its author "
                             "may not write to the repository\""),
              SizeIs(1));
}

TEST(Answers, IgnoreCommandsWhosePermissionTheTokenMayNotRead) {
  AnsweredIncident incident;
  tests::CapturedLog const log;
  incident.change({{"settings", {{"push", false}}}});
  incident.comment("ada", "/torchwatch status");
  ASSERT_TRUE(incident.poll());
  incident.expect_nothing();
  EXPECT_THAT(log.text(), HasSubstr("permission_unknown who=\"ada\""));
}

/// A comment that mentions a command and is not one.
struct NoCommand {
  char const* name;
  char const* permission;  ///< that of its author
  char const* body;
  char const* edited_to;  ///< null: it is not edited
  char const* reason;     ///< in the log
};

constexpr auto no_right = "its author may not write to the repository";
constexpr auto no_line = "no line of its text begins with a command";

class IgnoredCommand : public testing::TestWithParam<NoCommand> {};

TEST_P(IgnoredCommand, DoesNothing_AndIsLoggedOnce) {
  auto const& given = GetParam();
  AnsweredIncident incident;
  tests::CapturedLog const log;
  incident.change({{"settings", {{"permissions", {{"gil", given.permission}}}}}});
  incident.comment("gil", given.body);
  if (given.edited_to != nullptr) {
    ASSERT_TRUE(incident.poll());
    incident.clock.time += std::chrono::minutes{10};
    incident.edit("1", given.edited_to);
  }
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(incident.poll());
    incident.comment("ada", "hello");  // the list changes, so it is read again
  }

  incident.expect_nothing();
  EXPECT_THAT(incident.store.answers().open(), IsEmpty());
  auto const line = std::string{"comment_ignored incident=1 comment=1 who=\"gil\" reason=\""} +
                    given.reason + '"';
  EXPECT_THAT(log.lines_with(line), SizeIs(1)) << log.text();
}

INSTANTIATE_TEST_SUITE_P(
    All,
    IgnoredCommand,
    testing::Values(
        NoCommand{"byAReader", "read", "/torchwatch accept x", nullptr, no_right},
        NoCommand{"byATriager", "triage", "/torchwatch false-alarm x", nullptr, no_right},
        NoCommand{"byAStranger", "none", "/torchwatch mute 14d", nullptr, no_right},
        NoCommand{"unknownByAReader", "read", "/torchwatch acept", nullptr, no_right},
        NoCommand{"inAFence", "admin", "```\n/torchwatch accept x\n```", nullptr, no_line},
        NoCommand{"inATildeFence", "admin", "~~~\n/torchwatch accept x\n~~~", nullptr, no_line},
        NoCommand{"inAnOpenFence", "admin", "```sh\n/torchwatch accept x", nullptr, no_line},
        NoCommand{"indented", "admin", "Try:\n\n    /torchwatch accept x", nullptr, no_line},
        NoCommand{"inACodeSpan", "admin", "Write `/torchwatch accept x`", nullptr, no_line},
        NoCommand{"quoted", "admin", "> /torchwatch accept x\n\nI agree", nullptr, no_line},
        NoCommand{"quotedTwice", "admin", "> > /torchwatch accept x", nullptr, no_line},
        NoCommand{"continuingAQuotation", "admin", "> so:\n/torchwatch accept x", nullptr, no_line},
        NoCommand{"hidden", "admin", "<!--\n/torchwatch accept x\n-->", nullptr, no_line},
        NoCommand{"inAList", "admin", "- /torchwatch accept x", nullptr, no_line},
        NoCommand{"insideALine", "admin", "please /torchwatch accept x", nullptr, no_line},
        NoCommand{"addedByAnEdit",
                  "admin",
                  "hello",
                  "/torchwatch accept x",
                  "its command was added by an edit"},
        NoCommand{"unquotedByAnEdit",
                  "admin",
                  "> /torchwatch accept x",
                  "/torchwatch accept x",
                  "it was edited after it was read"}),
    [](auto const& test) { return test.param.name; });

TEST(Answers, IgnoreASecondCommandByAnEdit) {
  AnsweredIncident incident;
  tests::CapturedLog const log;
  incident.comment("ada", "/torchwatch accept x");
  ASSERT_TRUE(incident.poll());
  incident.clock.time += std::chrono::minutes{10};
  incident.edit("1", "/torchwatch false-alarm y");
  for (int i = 0; i < 3; ++i)
    ASSERT_TRUE(incident.poll());

  EXPECT_THAT(incident.rulings(), SizeIs(1));
  EXPECT_THAT(incident.replies(), SizeIs(1));
  EXPECT_THAT(log.lines_with("reason=\"it was edited after it was read\""), SizeIs(1));
}

TEST(Answers, IgnoreACommandThatAnEditAdds) {
  AnsweredIncident incident;
  tests::CapturedLog const log;
  incident.comment("ada", "hello");
  ASSERT_TRUE(incident.poll());
  incident.clock.time += std::chrono::minutes{10};
  incident.edit("1", "/torchwatch accept x");
  ASSERT_TRUE(incident.poll());

  incident.expect_nothing();
  EXPECT_THAT(log.lines_with("reason=\"its command was added by an edit\""), SizeIs(1));
}

TEST(Answers, IgnoreACommandThatIsListedAgainAfterTheReadingPlaceWasLost) {
  AnsweredIncident incident;
  incident.comment("ada", "/torchwatch accept x\n/torchwatch rebisect");
  ASSERT_TRUE(incident.poll());
  tests::CapturedLog const log;
  spdlog::default_logger()->set_level(spdlog::level::debug);

  incident.store.answers().keep_place(ReadList::comments, ReadPlace{});
  incident.poll_twice();

  EXPECT_THAT(incident.rulings(), SizeIs(1));
  EXPECT_THAT(incident.store.bisections().all_in_brief(), SizeIs(3)) << "one more than before";
  EXPECT_THAT(incident.replies(), SizeIs(1));
  EXPECT_THAT(incident.reactions(), SizeIs(1));
  EXPECT_THAT(log.lines_with("comment_known incident=1 comment=1"), SizeIs(testing::Ge(1U)));
}

TEST(Answers, IgnoreCommentsOnOtherIssues) {
  AnsweredIncident incident;
  incident.change({{"issues", {{{"title", "another"}, {"body", "x"}}}}});
  incident.comment("ada", "/torchwatch accept x", 2);
  ASSERT_TRUE(incident.poll());
  incident.expect_nothing();
}

TEST(Answers, ExplainAnUnknownCommandOnce) {
  AnsweredIncident incident;
  incident.comment("ada", "/torchwatch acept x");
  incident.poll_twice();
  ASSERT_THAT(incident.replies(), SizeIs(1));
  EXPECT_THAT(incident.replies().front(), HasSubstr("Found: `acept`. Allowed: rebisect [A..B]"));
  EXPECT_THAT(incident.rulings(), IsEmpty());
}

TEST(Answers, ToSeveralCommandsAreOneReply) {
  AnsweredIncident incident;
  incident.comment("ada", "/torchwatch mute 14d\n/torchwatch status\n/torchwatch accept");
  ASSERT_TRUE(incident.poll());
  ASSERT_THAT(incident.replies(), SizeIs(1));
  auto const reply = incident.replies().front();
  EXPECT_THAT(reply, HasSubstr("`/torchwatch mute 14d`: regressions of 1 series are recorded"));
  EXPECT_THAT(reply, HasSubstr("`/torchwatch status`: "));
  EXPECT_THAT(reply, HasSubstr("`/torchwatch accept` was not understood."));
}

TEST(Answers, MuteEachSeriesOfTheIncident) {
  AnsweredIncident incident;
  incident.comment("ada", "/torchwatch mute 14d");
  ASSERT_TRUE(incident.poll());

  auto const rulings = incident.store.rulings().all();
  ASSERT_THAT(rulings, SizeIs(1));
  EXPECT_EQ(rulings.front().kind, RulingKind::mute);
  auto const series = tests::latency_of("dlrm");
  EXPECT_TRUE(incident.store.rulings().is_muted(series, incident.clock.now()));
  auto const later = incident.clock.now() + std::chrono::days{14};
  EXPECT_FALSE(incident.store.rulings().is_muted(series, later));
  auto const until = rulings.front().until.value();
  EXPECT_THAT(incident.replies().front(),
              HasSubstr("not reported, until " + github::time_text(until).substr(0, 10) + "."));
}

TEST(Answers, BisectTheRangeOfTheReportAgain) {
  AnsweredIncident incident;
  incident.comment("ada", "/torchwatch rebisect");
  ASSERT_TRUE(incident.poll());

  auto const bisections = incident.store.bisections().of_incident_in_brief(IncidentId{1});
  ASSERT_THAT(bisections, SizeIs(2));
  EXPECT_EQ(bisections.back().request.start, tests::sha_of('a'));
  EXPECT_EQ(bisections.back().request.end, tests::sha_of('b'));
  EXPECT_THAT(incident.replies().front(),
              HasSubstr("`/torchwatch rebisect`: bisection 3 is queued: "
                        "`aaaaaaaaaaaa..bbbbbbbbbbbb`, 1 series. Its result will be added to this "
                        "issue."));
}

TEST(Answers, BisectBetweenTheNightliesOfTwoDates) {
  AnsweredIncident incident;
  incident.comment("ada", "/torchwatch rebisect 2026-01-01..2026-01-03");
  ASSERT_TRUE(incident.poll());
  auto const bisections = incident.store.bisections().of_incident_in_brief(IncidentId{1});
  ASSERT_THAT(bisections, SizeIs(2));
  EXPECT_EQ(bisections.back().request.end, tests::sha_of('d'));
}

TEST(Answers, ExplainADateWithoutANightly) {
  AnsweredIncident incident;
  incident.comment("ada", "/torchwatch rebisect 2026-01-01..2025-01-03");
  ASSERT_TRUE(incident.poll());
  EXPECT_THAT(incident.replies().front(),
              HasSubstr("not carried out: `found 2025-01-03, allowed the date of a nightly whose "
                        "commit is known`."));
}

TEST(Answers, PrintTheStatus) {
  AnsweredIncident incident;
  incident.comment("ada", "/torchwatch accept known");
  ASSERT_TRUE(incident.poll());
  incident.comment("ada", "/torchwatch status");
  ASSERT_TRUE(incident.poll());
  ASSERT_THAT(incident.replies(), SizeIs(2));
  EXPECT_THAT(incident.replies().back(),
              HasSubstr("- Worse in nightly `2026-01-02` than in nightly `2026-01-01`: 1 series.\n"
                        "- Accepted by `ada`: `known, "));
  EXPECT_THAT(incident.replies().back(), HasSubstr("\n- Bisection 1 is done: "));
}

TEST(Answers, AreFoundAgainAfterALostAnswer) {
  AnsweredIncident incident;
  incident.comment("ada", "/torchwatch accept x");
  incident.fail({{"method", "POST"}, {"path", "/reactions"}, {"after", true}, {"status", 502}});
  incident.fail(
      {{"method", "POST"}, {"path", "/issues/1/comments"}, {"after", true}, {"drop", true}});
  incident.poll_twice();
  EXPECT_THAT(incident.rulings(), SizeIs(1));
  EXPECT_THAT(incident.replies(), SizeIs(1));
  EXPECT_THAT(incident.reactions(), SizeIs(1));
}

TEST(Answers, AreCarriedOutAtOnceAndSentLaterWhenGithubRefusesThem) {
  AnsweredIncident incident;
  tests::CapturedLog const log;
  incident.comment("ada", "/torchwatch accept x");
  incident.fail({{"method", "POST"}, {"path", "/reactions"}, {"status", 403}, {"message", "no"}});
  incident.fail(
      {{"method", "POST"}, {"path", "/issues/1/comments"}, {"status", 403}, {"message", "no"}});
  std::ignore = incident.poll();
  EXPECT_THAT(incident.rulings(), SizeIs(1));
  EXPECT_THAT(incident.replies(), IsEmpty());
  EXPECT_THAT(log.text(), HasSubstr("reaction_refused comment=1"));

  incident.poll_twice();
  EXPECT_THAT(incident.rulings(), SizeIs(1));
  EXPECT_THAT(incident.replies(), SizeIs(1));
}

TEST(Answers, FollowTheEarlierMessagesOfTheIncident) {
  AnsweredIncident incident;
  IncidentEvent event;
  event.incident = IncidentId{1};
  event.kind = IncidentEventKind::explained;
  OutboxMessage message;
  message.destination = "github";
  message.marker = "<!-- torchwatch-event: 0123 -->";
  message.body = message.marker + "\nexplained";
  incident.store.incident_events().add(event, {message});
  incident.fail(
      {{"method", "POST"}, {"path", "/issues/1/comments"}, {"status", 403}, {"message", "no"}});
  incident.comment("ada", "/torchwatch status");
  std::ignore = incident.poll();
  EXPECT_THAT(incident.replies(), IsEmpty()) << "the reply waits for the message before it";

  incident.poll_twice();
  EXPECT_THAT(incident.replies(),
              ElementsAre(message.body, StartsWith("<!-- torchwatch-answer: 1 -->\n")));
}

TEST(Answers, OfOneIncident_AreCarriedOutInTheOrderOfComments) {
  AnsweredIncident incident;
  incident.comment("ada", "/torchwatch accept x");
  incident.comment("ada", "/torchwatch false-alarm y");
  incident.fail({{"method", "POST"}, {"path", "/comments/1/reactions"}, {"status", 502}});
  std::ignore = incident.poll();
  EXPECT_THAT(incident.rulings(), IsEmpty()) << "the second waits for the first";

  incident.poll_twice();
  auto const rulings = incident.rulings();
  ASSERT_THAT(rulings, SizeIs(2));
  EXPECT_EQ(rulings.back().kind, RulingKind::false_alarm) << "the last word";
  auto const replies = incident.replies();
  ASSERT_THAT(replies, SizeIs(2));
  EXPECT_THAT(replies.back(), HasSubstr("stored as a false alarm"));
}

TEST(Answers, WaitWhileGithubRefusesTheToken) {
  AnsweredIncident incident;
  incident.comment("ada", "/torchwatch accept x");
  incident.fail({{"method", "GET"}, {"path", "/permission"}, {"status", 401}});
  EXPECT_FALSE(incident.poll());
  incident.poll_twice();
  EXPECT_THAT(incident.rulings(), SizeIs(1));
  EXPECT_THAT(incident.replies(), SizeIs(1));
}

TEST(Answers, AreCarriedOutByTheNextStartWhenTheServiceStops) {
  AnsweredIncident incident;
  incident.comment("ada", "/torchwatch rebisect");
  incident.is_stopping = true;
  EXPECT_FALSE(incident.poll());
  EXPECT_THAT(incident.replies(), IsEmpty());
  incident.is_stopping = false;
  incident.poll_twice();
  EXPECT_THAT(incident.replies(), ElementsAre(HasSubstr("bisection 3 is queued")));
}

/// Polls with a kill before the write after `writes`, then again. False: it was not killed.
bool is_killed_and_answers_once(std::string const& command, int writes, bool is_lost) {
  AnsweredIncident incident;
  incident.comment("ada", command);
  if (is_lost)
    incident.fail(
        {{"method", "POST"}, {"path", "/issues/1/comments"}, {"after", true}, {"status", 502}});
  fakes::Executioner executioner{incident.folder.path() / "db"};
  executioner.grant(writes);
  bool was_killed = false;
  try {
    incident.poll().value();
  } catch (std::exception const&) {
    was_killed = true;
  }
  executioner.grant(1'000'000);
  incident.poll_twice();
  EXPECT_THAT(incident.store.rulings().all(), SizeIs(1)) << "after " << writes << " writes";
  EXPECT_THAT(incident.store.bisections().all_in_brief(), SizeIs(3))
      << "after " << writes << " writes";
  EXPECT_THAT(incident.reactions(), SizeIs(1)) << "after " << writes << " writes";
  EXPECT_THAT(incident.replies(), SizeIs(1)) << "after " << writes << " writes";
  return was_killed;
}

TEST(Answers, AreGivenOnceWhereverTheServiceIsKilled) {
  for (bool const is_lost : {false, true})
    for (auto const* const command : {"/torchwatch accept x\n/torchwatch rebisect",
                                      "/torchwatch rebisect\n/torchwatch mute 2d"}) {
      int kills = 0;
      while (is_killed_and_answers_once(command, kills, is_lost))
        ++kills;
      EXPECT_GE(kills, 7) << "the comment, ruling, bisection, reply, message, its time, its end";
    }
}

TEST(Answers, TakeAClosingWithAReasonAsARuling) {
  AnsweredIncident incident;
  incident.comment("ada", "the new check is worth it");
  incident.close("ada", "completed");
  ASSERT_TRUE(incident.poll());
  EXPECT_THAT(incident.rulings(), IsEmpty()) << "the closing minute is not over";

  incident.clock.time += seconds{60};
  incident.poll_twice();

  ASSERT_THAT(incident.rulings(), SizeIs(1));
  EXPECT_EQ(incident.rulings().front().kind, RulingKind::accept);
  EXPECT_EQ(incident.rulings().front().why, std::string{"the new check is worth it, "} + issue_1);
  ASSERT_THAT(incident.replies(), SizeIs(1));
  EXPECT_THAT(incident.replies().front(), StartsWith("<!-- torchwatch-answer: -1 -->\n"));
}

TEST(Answers, AskOnceForTheReasonOfAClosing) {
  AnsweredIncident incident;
  for (int i = 0; i < 3; ++i) {
    incident.close("ada", "not_planned");
    incident.clock.time += std::chrono::minutes{10};
    ASSERT_TRUE(incident.poll());
  }
  EXPECT_THAT(incident.rulings(), IsEmpty());
  ASSERT_THAT(incident.replies(), SizeIs(1));
  EXPECT_THAT(incident.replies().front(), HasSubstr("`ada` closed this issue. No reason"));
}

TEST(Answers, TakeNoReasonOfPeopleWithoutWriteAccess) {
  AnsweredIncident incident;
  incident.comment("eve", "I do not like it");
  incident.close("eve", "not_planned");
  incident.clock.time += seconds{60};
  ASSERT_TRUE(incident.poll());
  EXPECT_THAT(incident.rulings(), IsEmpty());
  EXPECT_THAT(incident.replies(), SizeIs(1));
}

TEST(Answers, AskNothingAfterACommandDecided) {
  AnsweredIncident incident;
  incident.comment("ada", "/torchwatch accept x");
  incident.close("ada", "completed");
  incident.clock.time += seconds{60};
  incident.poll_twice();
  EXPECT_THAT(incident.rulings(), SizeIs(1));
  EXPECT_THAT(incident.replies(), SizeIs(1));
}

TEST(Answers, AskNothingWhereALabelSaysFalseAlarm) {
  AnsweredIncident incident;
  incident.change({{"labelled", {{"1", {"False-Alarm"}}}}});
  incident.close("ada", "completed");
  incident.clock.time += seconds{60};
  incident.poll_twice();
  EXPECT_THAT(incident.replies(), IsEmpty());
}

TEST(Answers, FindTheIssueOfARenamedRepository) {
  AnsweredIncident incident;
  incident.change(
      {{"settings", {{"repository", "torch/torch"}, {"renamed_from", "pytorch/pytorch"}}}});
  incident.comment("ada", "/torchwatch accept x");
  incident.change(
      {{"edited",
        {{"1", {{"html_url", "https://github.com/torch/torch/issues/1#issuecomment-1"}}}}}});
  ASSERT_TRUE(incident.poll());
  EXPECT_THAT(incident.rulings(), SizeIs(1));
}

}  // namespace
}  // namespace torchwatch::report
