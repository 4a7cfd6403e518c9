#include "storage/outbox.h"

#include <chrono>

#include <gmock/gmock.h>

#include "tests/storage/tables.h"

namespace torchwatch::tests {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// An incident with an event, and the messages about it.
class OutboxTest : public TablesTest {
 protected:
  void add(std::vector<std::string> const& destinations) {
    std::vector<OutboxMessage> messages;
    for (auto const& destination : destinations) {
      OutboxMessage message;
      message.destination = destination;
      message.action = OutboxAction::edit_body;
      messages.push_back(message);
    }
    IncidentEvent event;
    event.incident = incident;
    store.incident_events().add(event, messages);
  }

  std::vector<std::int64_t> due(std::chrono::seconds later = {}) {
    std::vector<std::int64_t> ids;
    for (auto const& entry : store.outbox().next_due(early + later))
      ids.push_back(entry.message.id);
    return ids;
  }

  IncidentId incident =
      store.incidents().open(announce("2026-01-01", 'a'), announce("2026-01-02", 'b'), early).id;
};

TEST_F(OutboxTest, OnlyTheFirstMessageToEachDestinationIsDue) {
  add({"github", "github", "file"});
  add({"file"});
  EXPECT_THAT(due(), ElementsAre(1, 3));

  store.outbox().finish(1, "https://github.com/o/r/issues/7", "digest", early);
  EXPECT_THAT(due(), ElementsAre(2, 3));
}

TEST_F(OutboxTest, AFailedMessageWaitsAndHoldsUpItsSuccessors) {
  add({"github", "github", "file"});
  store.outbox().mark_sent(1, early);
  store.outbox().postpone(1, "503", early + std::chrono::minutes{1});

  EXPECT_THAT(due(), ElementsAre(3));
  EXPECT_THAT(due(std::chrono::minutes{1}), ElementsAre(1, 3));
  auto const entry = store.outbox().find(1).value();
  EXPECT_EQ(entry.sent_at, early);
  EXPECT_EQ(entry.attempts, 1);
  EXPECT_EQ(entry.failure, "503");
  store.outbox().mark_sent(1, std::nullopt);
  EXPECT_EQ(store.outbox().find(1)->sent_at, std::nullopt);
}

TEST_F(OutboxTest, AFailedMessageIsDueAtOnceWhenAnOperatorRetries) {
  add({"github", "github"});
  store.outbox().postpone(1, "401", early + std::chrono::hours{6});
  store.outbox().retry_now();

  EXPECT_THAT(due(), ElementsAre(1));
  EXPECT_EQ(store.outbox().find(1)->attempts, 1) << "the next pause is as long as it would be";
}

TEST_F(OutboxTest, AMessageKeepsTheTimeAtWhichItWasRejectedFirst) {
  add({"github"});
  store.outbox().postpone(1, "503", early);
  EXPECT_EQ(store.outbox().find(1)->rejected_at, std::nullopt);
  store.outbox().postpone(1, "422", early, early);
  store.outbox().postpone(1, "503", early);
  store.outbox().postpone(1, "422", early, early + std::chrono::hours{1});
  EXPECT_EQ(store.outbox().find(1)->rejected_at, early);
}

TEST_F(OutboxTest, AMessageThatIsGivenUpAloneLeavesItsSuccessors) {
  add({"github", "github"});
  store.outbox().give_up_alone(1, "422", early);

  EXPECT_THAT(due(), ElementsAre(2));
  EXPECT_EQ(store.outbox().find(1)->failure, "422");
}

TEST_F(OutboxTest, AMessageThatIsGivenUpTakesItsSuccessorsAlong) {
  add({"github", "file", "github"});
  store.outbox().give_up(1, "the issue was deleted", early);

  EXPECT_THAT(due(), ElementsAre(2));
  EXPECT_EQ(store.outbox().find(3)->failure, "the issue was deleted");
  EXPECT_EQ(store.outbox().find(2)->done_at, std::nullopt);
}

TEST_F(OutboxTest, ThePlaceIsOfTheFirstAndTheDigestOfTheLastMessage) {
  EXPECT_EQ(store.outbox().place_of(incident, "github"), "");
  add({"github", "github", "github"});
  store.outbox().finish(1, "https://github.com/o/r/issues/7", "one", early);
  store.outbox().finish(2, "https://github.com/o/r/issues/7#comment", "", early);
  store.outbox().finish(3, "https://github.com/o/r/issues/7", "three", early);

  EXPECT_EQ(store.outbox().place_of(incident, "github"), "https://github.com/o/r/issues/7");
  EXPECT_EQ(store.outbox().body_digest(incident, "github"), "three");
  EXPECT_EQ(store.outbox().body_digest(incident, "file"), "");
  EXPECT_THAT(store.outbox().unfinished(), IsEmpty());
}

}  // namespace
}  // namespace torchwatch::tests
