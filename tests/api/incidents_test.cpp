#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/api/http_client.h"
#include "tests/api/live_api.h"

// The life of an incident over HTTP: state, timeline, filters and the report as it was filed.
namespace torchwatch::tests {
namespace {

using nlohmann::json;
using std::chrono::days;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using Kind = IncidentEventKind;
using State = IncidentState;

constexpr auto issue = "https://github.com/o/r/issues/7";

OutboxMessage message(OutboxAction action, std::string body) {
  OutboxMessage message;
  message.destination = "github";
  message.action = action;
  message.title = "dlrm is 20% slower";
  message.body = std::move(body);
  message.marker = "<!-- marker -->";
  return message;
}

IncidentEvent event_of(Kind kind, State state, days after = days{0}) {
  IncidentEvent event;
  event.incident = IncidentId{1};
  event.kind = kind;
  event.state = state;
  event.at = early + after;
  return event;
}

class IncidentsTest : public ::testing::Test {
 protected:
  json read(std::string const& target) {
    auto const answer = ask(api.port(), get(target));
    EXPECT_EQ(answer.status, 200) << answer.body;
    return json::parse(answer.body);
  }

  /// Stores an event with its messages. Returns the messages with their ids.
  std::vector<OutboxEntry> happen(IncidentEvent const& event,
                                  std::vector<OutboxMessage> const& messages = {}) {
    std::vector<OutboxEntry> stored;
    api.fill([&](storage::Store& store) {
      auto const id = store.incident_events().add(event, messages);
      stored = store.outbox().of_event(id);
    });
    return stored;
  }

  void deliver(OutboxEntry const& entry, std::string const& place = issue) {
    api.fill([&](storage::Store& store) {
      store.outbox().finish(entry.message.id, place, "digest", early + days{1});
    });
  }

  /// Opens incident 2, of a nightly two months later, without a bisection.
  void open_second() {
    api.fill([](storage::Store& store) {
      auto nightly = nightly_of("2026-03-01", 'e');
      nightly.announced_at = early + days{58};
      store.nightlies().announce(nightly);
      auto const id = store.nightlies().newest()->id;
      store.incidents().record(id, {latency_of("maml"), slower()});
      store.incidents().open(NightlyId{2}, id, early + days{58});
    });
  }

  LiveApi api;
};

TEST_F(IncidentsTest, ANightlyListsAllIncidentsThatHaveItsRegressions) {
  open_second();
  api.fill([](storage::Store& store) {
    auto const nightly = store.nightlies().newest()->id;
    store.incidents().record(nightly, {latency_of("resnet50"), slower()});
    store.incidents().add_series({{IncidentId{1}, {nightly, latency_of("resnet50")}}});
  });

  auto const incidents = read("/api/v1/nightlies/4").at("incidents");
  ASSERT_THAT(incidents, SizeIs(2));
  EXPECT_EQ(incidents.at(0).at("id"), 2) << "that of the nightly comes first";
  EXPECT_EQ(incidents.at(1).at("id"), 1);
}

TEST_F(IncidentsTest, ListHasStateCulpritWorstChangeReportAndAge) {
  auto const incident = read("/api/v1/incidents").at("items").at(0);
  EXPECT_EQ(incident.at("state"), "open");
  EXPECT_EQ(incident.at("culprit").at("sha"), sha_of('c').hex);
  EXPECT_EQ(incident.at("culprit").at("pull_request"), 123);
  EXPECT_EQ(incident.at("changes").at(0).at("headline"), "+20.0%");
  EXPECT_EQ(incident.at("report"), issue);
  EXPECT_EQ(incident.at("opened_at"), "2026-01-02T03:04:05Z");
  open_second();
  EXPECT_TRUE(read("/api/v1/incidents").at("items").at(0).at("culprit").is_null());
}

TEST_F(IncidentsTest, AreSelectedByState) {
  open_second();
  happen(event_of(Kind::fixed, State::fixed));
  auto const ids = [&](std::string const& states) {
    std::vector<int> all;
    auto const page = read("/api/v1/incidents?state=" + states);
    for (auto const& one : page.at("items"))
      all.push_back(one.at("id").get<int>());
    return all;
  };
  EXPECT_THAT(ids("open"), ElementsAre(2));
  EXPECT_THAT(ids("fixed"), ElementsAre(1));
  EXPECT_THAT(ids("fixed,open"), ElementsAre(2, 1));
  EXPECT_THAT(ids("stale,returned"), IsEmpty());
  EXPECT_EQ(read("/api/v1/incidents?state=fixed").at("total"), 1);
}

TEST_F(IncidentsTest, LinkToTheNextPageKeepsTheStates) {
  open_second();
  auto const first = ask(api.port(), get("/api/v1/incidents?state=open,stale&limit=1"));
  EXPECT_EQ(first.headers.at("link"),
            "</api/v1/incidents?state=open%2Cstale&limit=1&before=2>; rel=\"next\"");
  EXPECT_EQ(
      read("/api/v1/incidents?state=open%2Cstale&limit=1&before=2").at("items").at(0).at("id"), 1);
}

TEST_F(IncidentsTest, RefuseOtherStates) {
  for (auto const* const states :
       {"", "closed", "open,", ",open", "open,closed", "Open", "open+"}) {
    auto const answer = ask(api.port(), get(std::string{"/api/v1/incidents?state="} + states));
    EXPECT_EQ(answer.status, 400) << states;
    auto const error = json::parse(answer.body).at("errors").at(0);
    EXPECT_EQ(error.at("field"), "state");
    EXPECT_THAT(error.at("detail").get<std::string>(), HasSubstr("open, explained, fix_expected"));
  }
}

TEST_F(IncidentsTest, HaveAnEmptyTimelineBeforeTheFirstEvent) {
  EXPECT_THAT(read("/api/v1/incidents/1").at("timeline"), IsEmpty());
}

TEST_F(IncidentsTest, TimelineHasEachEventOldestFirst) {
  auto opened = event_of(Kind::opened, State::open);
  opened.nightly = NightlyId{2};
  happen(opened);
  auto explained = event_of(Kind::explained, State::explained, days{1});
  explained.commit = sha_of('c');
  explained.detail = "bisection 1";
  explained.bisections = {BisectionId{1}};
  happen(explained);
  auto ruled = event_of(Kind::ruled, State::accepted, days{2});
  ruled.detail = "ada: pays for itself";
  happen(ruled);

  auto const incident = read("/api/v1/incidents/1");

  EXPECT_EQ(incident.at("state"), "accepted");
  auto const& timeline = incident.at("timeline");
  ASSERT_THAT(timeline, SizeIs(3));
  EXPECT_EQ(timeline.at(0).at("headline"), "opened in nightly 2026-01-02");
  EXPECT_EQ(timeline.at(0).at("nightly").at("url"), "/api/v1/nightlies/2");
  EXPECT_TRUE(timeline.at(0).at("commit").is_null());
  EXPECT_TRUE(timeline.at(0).at("detail").is_null());
  EXPECT_EQ(timeline.at(1).at("kind"), "explained");
  EXPECT_EQ(timeline.at(1).at("at"), "2026-01-03T03:04:05Z");
  EXPECT_EQ(timeline.at(1).at("commit").at("url"),
            "https://github.com/pytorch/pytorch/commit/" + sha_of('c').hex);
  EXPECT_EQ(timeline.at(1).at("bisections"), json::array({1}));
  EXPECT_EQ(timeline.at(2).at("headline"), "accepted");
  EXPECT_EQ(timeline.at(2).at("state"), "accepted");
  EXPECT_EQ(timeline.at(2).at("detail"), "ada: pays for itself");
}

TEST_F(IncidentsTest, TimelineHasWhatWasPublishedWhenAndWhere) {
  auto const sent =
      happen(event_of(Kind::opened, State::open), {message(OutboxAction::open_issue, "body")});
  deliver(sent.front());
  auto const later = happen(
      event_of(Kind::fixed, State::fixed, days{2}),
      {message(OutboxAction::comment, "comment"), message(OutboxAction::close_completed, "")});
  api.fill([&](storage::Store& store) {
    store.outbox().postpone(later.at(0).message.id, "no route to host", early + days{3});
  });

  auto const timeline = read("/api/v1/incidents/1").at("timeline");

  auto const& filed = timeline.at(0).at("messages").at(0);
  EXPECT_EQ(filed.at("destination"), "github");
  EXPECT_EQ(filed.at("action"), "open_issue");
  EXPECT_EQ(filed.at("progress"), "sent");
  EXPECT_EQ(filed.at("done_at"), "2026-01-03T03:04:05Z");
  EXPECT_EQ(filed.at("place"), issue);
  EXPECT_TRUE(filed.at("failure").is_null());
  auto const& messages = timeline.at(1).at("messages");
  ASSERT_THAT(messages, SizeIs(2));
  EXPECT_EQ(messages.at(0).at("progress"), "waiting");
  EXPECT_EQ(messages.at(0).at("attempts"), 1);
  EXPECT_EQ(messages.at(0).at("next_at"), "2026-01-05T03:04:05Z");
  EXPECT_EQ(messages.at(0).at("failure"), "no route to host");
  EXPECT_EQ(messages.at(1).at("action"), "close_completed");
  EXPECT_TRUE(messages.at(1).at("done_at").is_null());

  api.fill([&](storage::Store& store) {
    store.outbox().give_up(later.at(0).message.id, "the issue was deleted", early + days{3});
  });
  auto const incident = read("/api/v1/incidents/1");
  for (auto const& one : incident.at("timeline").at(1).at("messages"))
    EXPECT_EQ(one.at("progress"), "given_up") << "the later ones, too";
}

TEST_F(IncidentsTest, HaveTheSeriesThatAreBack) {
  EXPECT_THAT(read("/api/v1/incidents/1").at("recoveries"), IsEmpty());
  api.fill([](storage::Store& store) {
    Comparison back;
    back.verdict = Verdict::unchanged;
    back.before = 10;
    back.after = 10.1;
    back.ratio = RatioInterval{1.01, 0.99, 1.03};
    store.incidents().record_recoveries(IncidentId{1}, {{latency_of("dlrm"), NightlyId{3}, back}});
  });
  auto const recovery = read("/api/v1/incidents/1").at("recoveries").at(0);
  EXPECT_EQ(recovery.at("name"), "test_train[dlrm-cpu-eager]_latency");
  EXPECT_EQ(recovery.at("headline"), "+1.0%");
  EXPECT_EQ(recovery.at("verdict"), "unchanged");
  EXPECT_EQ(recovery.at("nightly").at("date"), "2026-01-03");
}

TEST_F(IncidentsTest, ReportIsNotFoundBeforeItWasFiled) {
  happen(event_of(Kind::opened, State::open), {message(OutboxAction::open_issue, "body")});
  auto const answer = ask(api.port(), get("/api/v1/incidents/1?format=markdown"));
  EXPECT_EQ(answer.status, 404);
  EXPECT_THAT(answer.body, HasSubstr("incident 1: found no report that was sent"));
  EXPECT_EQ(ask(api.port(), get("/api/v1/incidents/1?format=html")).status, 400);
}

TEST_F(IncidentsTest, ReportIsTheLastBodyAndAllCommentsThatWereFiled) {
  deliver(
      happen(event_of(Kind::opened, State::open), {message(OutboxAction::open_issue, "first\n")})
          .front());
  auto const explained = happen(event_of(Kind::explained, State::explained),
                                {message(OutboxAction::edit_body, "second\n"),
                                 message(OutboxAction::comment, "the culprit\n")});
  for (auto const& entry : explained)
    deliver(entry);
  happen(event_of(Kind::fixed, State::fixed), {message(OutboxAction::edit_body, "third\n")});

  auto const answer = ask(api.port(), get("/api/v1/incidents/1?format=markdown"));

  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.headers.at("content-type"), "text/markdown; charset=utf-8");
  EXPECT_EQ(answer.body, "# dlrm is 20% slower\n\nsecond\n\n---\n\nthe culprit\n");
}

TEST_F(IncidentsTest, TonightHasOnlyTheUnfinishedOnesOfAnyAge) {
  open_second();
  auto const before = read("/api/v1/tonight");
  EXPECT_EQ(before.at("unfinished_incidents"), 2);
  ASSERT_THAT(before.at("incidents"), SizeIs(2));
  EXPECT_EQ(before.at("incidents").at(0).at("id"), 2);
  EXPECT_EQ(before.at("incidents").at(1).at("id"), 1) << "two months before the newest nightly";

  happen(event_of(Kind::partly_fixed, State::partly_fixed));
  EXPECT_EQ(read("/api/v1/tonight").at("incidents").at(1).at("state"), "partly_fixed");
  for (auto const state : {State::fixed, State::accepted, State::false_alarm}) {
    happen(event_of(Kind::ruled, state));
    auto const after = read("/api/v1/tonight");
    EXPECT_EQ(after.at("unfinished_incidents"), 1) << to_string(state);
    ASSERT_THAT(after.at("incidents"), SizeIs(1));
    EXPECT_EQ(after.at("incidents").at(0).at("id"), 2);
  }
}

TEST_F(IncidentsTest, PagesWithoutScriptsHaveStateAndHistory) {
  happen(event_of(Kind::opened, State::open));
  happen(event_of(Kind::fix_expected, State::fix_expected, days{1}));
  EXPECT_THAT(ask(api.port(), get("/incidents")).body, HasSubstr("slower, fix expected</a>"));
  auto const page = ask(api.port(), get("/incidents/1")).body;
  EXPECT_THAT(page, HasSubstr("History"));
  EXPECT_THAT(page, HasSubstr("2026-01-03: <strong>Fix expected</strong>"));
}

}  // namespace
}  // namespace torchwatch::tests
