#include "storage/answers.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "tests/storage/tables.h"

namespace torchwatch::tests {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

class AnswersTest : public TablesTest {
 protected:
  AnswersTest() {
    auto const baseline = announce("2026-01-01", 'a');
    auto const nightly = announce("2026-01-02", 'b');
    incident = store.incidents().open(baseline, nightly, early).id;
  }

  Answer answer(std::int64_t comment) const {
    Answer made;
    made.comment = comment;
    made.incident = incident;
    made.command = "/torchwatch accept it is faster\n/torchwatch status";
    made.who = "ada";
    made.at = early;
    return made;
  }

  /// Replies to a comment, with the reply as the body of the message.
  void reply(std::int64_t comment, std::string const& text) {
    auto replied = answer(comment);
    replied.reply = text;
    OutboxMessage message;
    message.incident = incident;
    message.destination = "github";
    message.body = text;
    store.answers().reply(replied, message);
  }

  /// Returns the bodies of the incident's messages.
  std::vector<std::string> messages() {
    std::vector<std::string> bodies;
    for (auto const& entry : store.outbox().of(incident))
      bodies.push_back(entry.message.body);
    return bodies;
  }

  IncidentId incident;
};

TEST_F(AnswersTest, AreOpenUntilTheyHaveAReply) {
  store.answers().add(answer(7));

  auto const read = store.answers().open();
  ASSERT_THAT(read, SizeIs(1));
  EXPECT_EQ(read.front().incident, incident);
  EXPECT_EQ(read.front().command, "/torchwatch accept it is faster\n/torchwatch status");
  EXPECT_EQ(read.front().who, "ada");
  EXPECT_EQ(read.front().at, early);
  EXPECT_EQ(read.front().reply, std::nullopt);

  reply(7, "accepted");

  EXPECT_THAT(store.answers().open(), IsEmpty());
  EXPECT_TRUE(store.answers().has(7));
  ASSERT_THAT(store.answers().of(incident), SizeIs(1));
  EXPECT_EQ(store.answers().of(incident).front().reply, "accepted");
  EXPECT_THAT(messages(), ElementsAre("accepted"));
  EXPECT_EQ(store.outbox().of(incident).front().message.event, 0) << "it is about no event";
}

TEST_F(AnswersTest, HaveOneReplyAndOneMessage) {
  store.answers().add(answer(7));
  reply(7, "first");
  reply(7, "second");
  reply(8, "of a comment that was not added");

  EXPECT_EQ(store.answers().of(incident).front().reply, "first");
  EXPECT_THAT(messages(), ElementsAre("first", "of a comment that was not added"));
}

TEST_F(AnswersTest, OfAComment_IsTheFirst) {
  store.answers().add(answer(7));
  auto second = answer(7);
  second.command = "status";
  store.answers().add(second);
  EXPECT_EQ(store.answers().of(incident).front().command,
            "/torchwatch accept it is faster\n/torchwatch status");
}

TEST_F(AnswersTest, OfAnIgnoredComment_HasAnEmptyReplyAndNoMessage) {
  auto ignored = answer(7);
  ignored.reply = "";
  store.answers().add(ignored);
  EXPECT_THAT(store.answers().open(), IsEmpty());
  EXPECT_THAT(messages(), IsEmpty());
}

TEST_F(AnswersTest, KnowHowFarEachListWasRead) {
  EXPECT_FALSE(store.answers().place(ReadList::comments));
  store.answers().keep_place(ReadList::comments, {early, "W/\"1\"", 7});
  store.answers().keep_place(ReadList::comments, {early, "W/\"2\"", 8});

  auto const place = store.answers().place(ReadList::comments).value();
  EXPECT_EQ(place.since, early);
  EXPECT_EQ(place.etag, "W/\"2\"");
  EXPECT_EQ(place.last_comment, 8);
  EXPECT_FALSE(store.answers().place(ReadList::closed_issues));
}

TEST_F(AnswersTest, FindTheIncidentOfAnIssue) {
  EXPECT_EQ(store.incidents().newest_issue_opened_at(), std::nullopt);
  store.incidents().reported(incident, "https://github.com/o/r/issues/7");
  EXPECT_EQ(store.incidents().reported_at("https://github.com/o/r/issues/7")->id, incident);
  EXPECT_FALSE(store.incidents().reported_at("https://github.com/o/r/issues/70"));
  EXPECT_EQ(store.incidents().newest_issue_opened_at(), early);
}

}  // namespace
}  // namespace torchwatch::tests
