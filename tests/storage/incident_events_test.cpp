#include "storage/incident_events.h"

#include <gmock/gmock.h>

#include "tests/storage/tables.h"

namespace torchwatch::tests {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

/// Two nightlies with an incident, and a third one.
class IncidentEventsTest : public TablesTest {
 protected:
  IncidentEventsTest() {
    store.incidents().record(second, {latency_of("dlrm"), slower()});
    incident = store.incidents().open(first, second, early).id;
  }

  IncidentEvent event_of(IncidentEventKind kind, IncidentState state) const {
    IncidentEvent event;
    event.incident = incident;
    event.kind = kind;
    event.state = state;
    event.at = early;
    return event;
  }

  static OutboxMessage message_to(std::string destination) {
    OutboxMessage message;
    message.destination = std::move(destination);
    message.title = "dlrm is slower";
    message.labels = {"perf", "nightly"};
    return message;
  }

  /// Records the comparison of the good build of dlrm with a nightly.
  void compare(NightlyId nightly, Verdict verdict) {
    auto comparison = slower();
    comparison.verdict = verdict;
    store.incidents().record_recoveries(incident, {{latency_of("dlrm"), nightly, comparison}});
  }

  std::vector<IncidentId> changing() {
    std::vector<IncidentId> ids;
    for (auto const& one : store.incidents().changing())
      ids.push_back(one.id);
    return ids;
  }

  NightlyId first = announce("2026-01-01", 'a');
  NightlyId second = announce("2026-01-02", 'b');
  NightlyId third = announce("2026-01-03", 'c');
  IncidentId incident;
};

TEST_F(IncidentEventsTest, AnEventIsStoredWithTheStateAndItsMessages) {
  EXPECT_EQ(store.incidents().find(incident)->state, IncidentState::open);
  auto event = event_of(IncidentEventKind::fix_expected, IncidentState::fix_expected);
  event.nightly = second;
  event.commit = sha_of('d');
  event.detail = "Revert it";
  auto const next = store.incident_events().next_id();
  EXPECT_EQ(store.incident_events().add(event, {message_to("github"), message_to("file")}), next);

  EXPECT_EQ(store.incidents().find(incident)->state, IncidentState::fix_expected);
  auto const events = store.incident_events().of(incident);
  ASSERT_THAT(events, SizeIs(1));
  EXPECT_EQ(events[0].id, next);
  EXPECT_EQ(events[0].kind, IncidentEventKind::fix_expected);
  EXPECT_EQ(events[0].state, IncidentState::fix_expected);
  EXPECT_EQ(events[0].nightly, second);
  EXPECT_EQ(events[0].commit, sha_of('d'));
  EXPECT_EQ(events[0].detail, "Revert it");
  EXPECT_EQ(events[0].at, early);
  auto const messages = store.outbox().of_event(next);
  ASSERT_THAT(messages, SizeIs(2));
  EXPECT_EQ(messages[1].message.destination, "file");
  EXPECT_EQ(messages[1].message.incident, incident);
  EXPECT_THAT(messages[1].message.labels, ElementsAre("perf", "nightly"));
}

TEST_F(IncidentEventsTest, TheNewestOfAllIncidentsComeFirst) {
  store.incident_events().add(event_of(IncidentEventKind::opened, IncidentState::open), {});
  store.incident_events().add(event_of(IncidentEventKind::explained, IncidentState::explained), {});

  auto const newest = store.incident_events().newest(1);
  ASSERT_THAT(newest, SizeIs(1));
  EXPECT_EQ(newest[0].kind, IncidentEventKind::explained);
  EXPECT_THAT(store.incident_events().of(incident), SizeIs(2));
}

TEST_F(IncidentEventsTest, AllStatesAndKindsAreReadAsWritten) {
  for (auto const state : {IncidentState::open,
                           IncidentState::explained,
                           IncidentState::fix_expected,
                           IncidentState::fixed,
                           IncidentState::partly_fixed,
                           IncidentState::returned,
                           IncidentState::accepted,
                           IncidentState::false_alarm,
                           IncidentState::stale}) {
    EXPECT_EQ(parse_incident_state(to_string(state)), state);
    store.incident_events().add(event_of(IncidentEventKind::answered, state), {});
    EXPECT_EQ(store.incidents().find(incident)->state, state);
  }
  EXPECT_EQ(parse_incident_state("sleeping"), std::nullopt);
  EXPECT_EQ(parse_incident_event_kind("series_joined"), IncidentEventKind::series_joined);
  EXPECT_EQ(parse_incident_event_kind("slept"), std::nullopt);
}

TEST_F(IncidentEventsTest, ASeriesIsBackUntilItReturns) {
  compare(third, Verdict::regression);
  EXPECT_THAT(store.incidents().recoveries(incident), IsEmpty());
  EXPECT_THAT(store.incidents().compared_recoveries(incident), SizeIs(1));

  auto const fourth = announce("2026-01-04", 'd');
  compare(fourth, Verdict::unchanged);
  auto const back = store.incidents().recoveries(incident);
  ASSERT_THAT(back, SizeIs(1));
  EXPECT_EQ(back[0].nightly, fourth);
  compare(fourth, Verdict::regression);
  EXPECT_THAT(store.incidents().recoveries(incident), SizeIs(1)) << "the first one stays";

  auto const fifth = announce("2026-01-05", 'e');
  store.incidents().record(fifth, {latency_of("dlrm"), slower()});
  store.incidents().add_series({{incident, {fifth, latency_of("dlrm"), true}}});
  EXPECT_THAT(store.incidents().recoveries(incident), IsEmpty());
  EXPECT_THAT(store.incidents().find(incident)->changes, SizeIs(1));
  EXPECT_EQ(store.incidents().of_nightly(fifth)->id, incident);
}

TEST_F(IncidentEventsTest, ASeriesThatJoinsBelongsToNoOtherIncident) {
  store.incidents().record(third, {latency_of("dlrm"), slower()});
  store.incidents().record(third, {latency_of("resnet50"), slower()});
  store.incidents().add_series({{incident, {third, latency_of("resnet50")}}});
  auto const later = store.incidents().open(second, third, early);

  ASSERT_THAT(later.changes, SizeIs(1));
  EXPECT_EQ(later.changes[0].series, latency_of("dlrm"));
  auto const earlier = store.incidents().find(incident).value();
  ASSERT_THAT(earlier.changes, SizeIs(2));
  EXPECT_EQ(earlier.changes[1].series, latency_of("resnet50"));
  auto const both = store.incidents().all_of_nightly(third);
  ASSERT_THAT(both, SizeIs(2));
  EXPECT_EQ(both[0].id, later.id) << "its own comes first";
  EXPECT_EQ(store.incidents().of_nightly(third)->id, later.id);
}

TEST_F(IncidentEventsTest, AnIncidentThatJoinedIsTheEarlierOne) {
  store.incidents().record(third, {latency_of("resnet50"), slower()});
  auto const later = store.incidents().open(second, third, early);
  BisectionRequest request;
  request.start = sha_of('a');
  request.end = sha_of('c');
  request.series = {latency_of("resnet50")};
  store.bisections().ask(request, later.id, early);
  store.incidents().join(later, incident, {latency_of("resnet50")});

  EXPECT_THAT(store.incidents().all(), SizeIs(1));
  EXPECT_EQ(store.incidents().count(), 1);
  EXPECT_EQ(store.incidents().find(later.id), std::nullopt);
  EXPECT_EQ(store.incidents().of_nightly(third)->id, incident);
  EXPECT_THAT(store.incidents().find(incident)->changes, SizeIs(2));
  EXPECT_THAT(store.bisections().of_incident(incident), SizeIs(1));
}

TEST_F(IncidentEventsTest, AFinishedIncidentChangesOnlyWithNews) {
  store.incident_events().add(event_of(IncidentEventKind::opened, IncidentState::open), {});
  EXPECT_THAT(changing(), ElementsAre(incident)) << "it is unfinished";
  store.incident_events().add(event_of(IncidentEventKind::fixed, IncidentState::fixed), {});
  EXPECT_THAT(changing(), IsEmpty());

  store.incidents().correct(incident, std::nullopt, "it was published again");
  EXPECT_THAT(changing(), ElementsAre(incident));
  auto answered = event_of(IncidentEventKind::answered, IncidentState::fixed);
  answered.detail = "it was published again";
  store.incident_events().add(answered, {});
  EXPECT_THAT(changing(), IsEmpty());

  Ruling ruling;
  ruling.kind = RulingKind::accept;
  ruling.incident = incident;
  store.rulings().give(ruling);
  EXPECT_THAT(changing(), ElementsAre(incident));
  store.incident_events().add(event_of(IncidentEventKind::ruled, IncidentState::accepted), {});
  EXPECT_THAT(changing(), IsEmpty());
}

TEST_F(IncidentEventsTest, TheStoryHasEventsRecoveriesAndTheirNightlies) {
  store.incident_events().add(event_of(IncidentEventKind::opened, IncidentState::open), {});
  compare(third, Verdict::unchanged);
  auto const story = storage::story_of(store, store.incidents().find(incident).value());

  EXPECT_THAT(story.events, SizeIs(1));
  EXPECT_THAT(story.recoveries, SizeIs(1));
  EXPECT_EQ(story.nightlies.at(third).date, "2026-01-03");
}

}  // namespace
}  // namespace torchwatch::tests
