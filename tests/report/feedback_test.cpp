#include <chrono>

#include <gmock/gmock.h>

#include "daemon/report/answers.h"
#include "daemon/report/rulings.h"
#include "tests/api/stored_story.h"
#include "tests/report/publishing.h"

// Labels of issues, and the rulings that users give.
namespace torchwatch::report {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

/// A reported incident, and what maintainers do with its issue.
class FeedbackTest : public testing::Test, public Publishing {
 protected:
  FeedbackTest() {
    open_incident();
    send().value();
  }

  Result<> collect() {
    Answers answers{options, *store, network(), {}};
    return fakes::run(answers.read_labels());
  }

  void label() { change({{"labelled", {{"1", {"false-alarm"}}}}}); }

  std::vector<Ruling> rulings() { return store->rulings().on(IncidentId{1}); }
};

TEST_F(FeedbackTest, TakesALabelForARulingOnce) {
  label();
  ASSERT_TRUE(collect());
  ASSERT_TRUE(collect());
  ASSERT_THAT(rulings(), SizeIs(1));
  EXPECT_EQ(rulings().front().who, "GitHub");
}

TEST_F(FeedbackTest, TakesNoRulingFromAnIssueOfAnotherAuthor) {
  auto forged = issue();
  forged["user"]["login"] = "mallory";
  forged.erase("number");
  change({{"issues", nlohmann::json::array({forged})}, {"labelled", {{"2", {"false-alarm"}}}}});
  ASSERT_TRUE(collect());
  EXPECT_THAT(rulings(), IsEmpty());
}

TEST_F(FeedbackTest, SendsNothingWithoutARepositoryOrALabel) {
  auto const before = hub.state().at("requests").size();
  options.github.false_alarm_label.clear();
  EXPECT_TRUE(collect());
  options.github.repository.clear();
  EXPECT_TRUE(collect());
  EXPECT_THAT(hub.state().at("requests"), SizeIs(before));
}

TEST_F(FeedbackTest, PassesOnWhyGithubCouldNotBeAsked) {
  fail({{"status", 401}, {"message", "Bad credentials"}});
  EXPECT_THAT(collect().error().message, HasSubstr("Bad credentials"));
  ::unsetenv("TORCHWATCH_TEST_TOKEN");
  EXPECT_FALSE(collect());
}

TEST_F(FeedbackTest, TakesRulings) {
  Ruling ruling;
  ruling.kind = RulingKind::false_alarm;
  ruling.who = "ada";
  ruling.why = "noise";
  ruling.incident = IncidentId{99};
  EXPECT_EQ(give_ruling(*store, ruling, clock.now()).error().code, ErrorCode::not_found);
  ruling.incident = IncidentId{1};
  EXPECT_TRUE(give_ruling(*store, ruling, clock.now()));

  Ruling mute;
  mute.kind = RulingKind::mute;
  mute.until = clock.now() - std::chrono::seconds{1};
  EXPECT_EQ(give_ruling(*store, mute, clock.now()).error().code, ErrorCode::invalid_argument);
}

TEST(Rulings, ClearADriftThatAUserAccepts) {
  fakes::MemoryFolder const folder;
  auto store = storage::Store::open(folder.path() / "torchwatch.sqlite").value();
  tests::store_story(store);
  auto const series = store.histories().series().at(0);
  store.alarms().raise(AlarmKind::drift, drift_subject(series), "slower", tests::early);
  Ruling accept;
  accept.kind = RulingKind::accept;
  accept.who = "ada";
  accept.why = "wanted";
  ASSERT_TRUE(give_ruling(store, accept, tests::early));
  EXPECT_THAT(store.alarms().open(), IsEmpty());
}

}  // namespace
}  // namespace torchwatch::report
