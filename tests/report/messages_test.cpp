#include "daemon/report/messages.h"

#include <algorithm>
#include <set>
#include <string>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "github/comment.h"
#include "github/issue.h"
#include "storage/domain/project.h"
#include "tests/github/stories.h"

namespace torchwatch::report {
namespace {

using github::event_of;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;
using testing::StartsWith;
using Kind = IncidentEventKind;
using State = IncidentState;

config::Options with_repository() {
  config::Options options;
  options.github.repository = "o/r";
  return options;
}

config::Options with_all_destinations() {
  auto options = with_repository();
  options.publish.webhook.url = "https://hooks.example/t";
  options.publish.email.to = {"perf@example.org"};
  options.publish.email.from = "torchwatch@example.org";
  options.publish.pull_request_comment = true;
  return options;
}

std::vector<std::string> words_of(std::vector<OutboxMessage> const& messages) {
  std::vector<std::string> words;
  for (auto const& message : messages)
    words.push_back(message.destination + " " + std::string{to_string(message.action)});
  return words;
}

std::vector<std::string> words_of(Kind kind, State state) {
  return words_of(messages_of(github::culprit_story(), event_of(kind, state), with_repository()));
}

TEST(Messages, ForGithub_FollowTheLifeOfTheIncident) {
  EXPECT_THAT(words_of(Kind::opened, State::open), ElementsAre("github open_issue"));
  EXPECT_THAT(words_of(Kind::explained, State::explained),
              ElementsAre("github edit_body", "github comment"));
  EXPECT_THAT(words_of(Kind::series_joined, State::open),
              ElementsAre("github edit_body", "github comment"));
  EXPECT_THAT(words_of(Kind::fix_expected, State::fix_expected), ElementsAre("github edit_body"));
  EXPECT_THAT(words_of(Kind::fixed, State::fixed),
              ElementsAre("github edit_body", "github comment", "github close_completed"));
  EXPECT_THAT(words_of(Kind::partly_fixed, State::partly_fixed),
              ElementsAre("github edit_body", "github comment"));
  EXPECT_THAT(words_of(Kind::returned, State::returned),
              ElementsAre("github reopen", "github edit_body", "github comment"));
  EXPECT_THAT(words_of(Kind::returned, State::accepted),
              ElementsAre("github edit_body", "github comment"))
      << "a ruling came before, so the issue stays closed";
  EXPECT_THAT(words_of(Kind::ruled, State::accepted),
              ElementsAre("github edit_body", "github comment", "github close_not_planned"));
  EXPECT_THAT(words_of(Kind::ruled, State::false_alarm),
              ElementsAre("github edit_body", "github comment", "github close_not_planned"));
  EXPECT_THAT(words_of(Kind::ruled, State::open),
              ElementsAre("github edit_body", "github comment"));
  EXPECT_THAT(words_of(Kind::stale, State::stale),
              ElementsAre("github edit_body", "github comment"));
  EXPECT_THAT(words_of(Kind::answered, State::open), ElementsAre("github comment"));
}

TEST(Messages, AreOneReportFileWithoutARepository) {
  for (auto const kind : {Kind::opened, Kind::fixed})
    EXPECT_THAT(messages_of(github::fixed_story(), event_of(kind, State::fixed), {}), SizeIs(1));
  auto const story = github::fixed_story();
  auto const file = messages_of(story, story.events.back(), {}).front();
  EXPECT_EQ(file.destination, "file");
  EXPECT_THAT(
      file.body,
      AllOf(StartsWith("# " + file.title + "\n\n<!-- torchwatch-key: "),
            HasSubstr("**Fixed** in nightly `2026-11-28` by [`dddddddddddd`]"),
            HasSubstr("### History\n\n- 2025-11-22: **Opened** in nightly `2026-11-20`\n")));
}

TEST(Messages, OfAnOpening_AreTheIssue) {
  auto story = github::plain_story();
  auto const message = messages_of(story, event_of(Kind::opened), with_repository()).front();
  EXPECT_EQ(message.marker, github::marker_of(github::key_of(story)));
  EXPECT_THAT(message.labels, ElementsAre("torchbench-perf-report"));
  EXPECT_THAT(message.title, StartsWith("test_eval[dlrm-cpu-eager] leaks 1.50 KiB per iteration"));
  EXPECT_THAT(message.body,
              AllOf(StartsWith(message.marker + "\n"),
                    HasSubstr("No bisection is possible, since no repository is configured."),
                    HasSubstr("put the label `false-alarm` on this issue")));

  auto options = with_repository();
  options.source.repository = "/srv/pytorch.git";
  EXPECT_THAT(messages_of(story, event_of(Kind::opened), options).front().body,
              HasSubstr("No commit is known yet: the bisection has not begun."));
}

TEST(Messages, WithANewBodyHaveTheKeyAndTheirOwnMarker) {
  auto const story = github::fixed_story();
  auto const messages = messages_of(story, story.events.back(), with_repository());
  auto const& edit = messages.at(0);
  EXPECT_THAT(edit.body,
              StartsWith(github::marker_of(github::key_of(story)) + "\n" + edit.marker +
                         "\n**Fixed** in nightly `2026-11-28`"));
  EXPECT_THAT(messages.at(1).body, StartsWith(messages.at(1).marker + "\n**Fixed**"));
}

TEST(Messages, DoNotDependOnWhetherTheStoryHasTheEvent) {
  auto const after = github::fixed_story();
  auto before = after;
  before.incident.state = State::fix_expected;
  before.events.pop_back();
  auto const options = with_all_destinations();
  auto const one = messages_of(before, after.events.back(), options);
  auto const other = messages_of(after, after.events.back(), options);
  ASSERT_EQ(words_of(one), words_of(other));
  for (std::size_t i = 0; i < one.size(); ++i) {
    EXPECT_EQ(one[i].body, other[i].body);
    EXPECT_EQ(one[i].marker, other[i].marker);
  }
}

TEST(Messages, HaveAMarkerOfTheirOwn) {
  std::set<std::string> markers;
  std::size_t count = 0;
  auto const story = github::fixed_story();
  for (auto const& event : story.events) {
    for (auto const& message : messages_of(story, event, with_all_destinations())) {
      markers.insert(message.marker);
      ++count;
    }
  }
  EXPECT_EQ(markers.size(), count);
}

TEST(Messages, OfACorrection_ReplaceTheBodyAndAddTheCorrection) {
  auto story = github::culprit_story();
  story.incident.correction = "The nightly was published again. It has no regression.";
  auto event = event_of(Kind::answered);
  event.detail = story.incident.correction;
  auto const messages = messages_of(story, event, with_repository());
  ASSERT_THAT(words_of(messages), ElementsAre("github edit_body", "github comment"));
  for (auto const& message : messages)
    EXPECT_THAT(message.body, HasSubstr(story.incident.correction));
}

TEST(Messages, ForAWebhook_AreJson) {
  auto const story = github::fixed_story();
  auto const messages = messages_of(story, story.events.back(), with_all_destinations());
  auto const webhook = std::ranges::find(messages, "webhook", &OutboxMessage::destination);
  ASSERT_NE(webhook, messages.end());
  auto const text = nlohmann::json::parse(webhook->body);
  EXPECT_EQ(text.at("id"), std::string{github::digits_in(webhook->marker)});
  EXPECT_EQ(text.at("event"), "fixed");
  EXPECT_EQ(text.at("state"), "fixed");
  EXPECT_EQ(text.at("at"), "2025-11-22T08:26:40Z");
  EXPECT_EQ(text.at("incident"), 1);
  EXPECT_EQ(text.at("nightly"), "2026-11-28");
  EXPECT_EQ(text.at("commit"), github::sha_of('d').hex);
  EXPECT_THAT(text.at("series"), SizeIs(3));
  EXPECT_THAT(text.at("recovered"), SizeIs(3));
  EXPECT_EQ(text.at("series")[2]["ratio"], nullptr) << "a leak has none";
  EXPECT_EQ(text.at("culprits")[0]["pull_request"], 86000);
  EXPECT_THAT(text.at("markdown").get<std::string>(), StartsWith("**Fixed** in nightly"));
}

TEST(Messages, ByEmail_HaveASubjectAndNoHiddenLines) {
  auto const story = github::fixed_story();
  auto options = with_all_destinations();
  options.github.repository.clear();
  options.publish.pull_request_comment = false;
  auto const opened = messages_of(story, story.events.front(), options).back();
  EXPECT_EQ(opened.destination, "email");
  EXPECT_THAT(opened.title, StartsWith("test_eval[dlrm-cpu-eager] leaks"));
  EXPECT_THAT(opened.body, Not(HasSubstr("<!--")));
  auto const fixed = messages_of(story, story.events.back(), options).back();
  EXPECT_THAT(fixed.title, StartsWith("fixed in nightly 2026-11-28: test_eval["));
  EXPECT_THAT(fixed.body, StartsWith("**Fixed**"));
}

TEST(Messages, ForThePullRequest_AreOneComment) {
  auto story = github::culprit_story();
  auto event = event_of(Kind::explained, State::explained);
  event.commit = github::sha_of('c');
  auto const options = with_all_destinations();
  auto const messages = messages_of(story, event, options);
  auto const comment = std::ranges::find(messages, "pull_request", &OutboxMessage::destination);
  ASSERT_NE(comment, messages.end());
  EXPECT_EQ(comment->title, "https://github.com/pytorch/pytorch/pull/86000");

  story.events = {event};
  auto again = event;
  again.at += std::chrono::hours{1};
  EXPECT_THAT(words_of(messages_of(story, again, options)),
              Not(testing::Contains("pull_request comment")));
  auto off = options;
  off.publish.pull_request_comment = false;
  EXPECT_THAT(words_of(messages_of(github::culprit_story(), event, off)),
              Not(testing::Contains("pull_request comment")));
  event.commit = github::sha_of('9');
  EXPECT_THAT(words_of(messages_of(github::culprit_story(), event, options)),
              Not(testing::Contains("pull_request comment")))
      << "its proof is missing";
}

TEST(Messages, ForThePullRequest_AreNoneOnceAUserRuled) {
  for (auto const state : {State::accepted, State::false_alarm}) {
    auto event = event_of(Kind::explained, state);
    event.commit = github::sha_of('c');
    EXPECT_THAT(words_of(messages_of(github::culprit_story(), event, with_all_destinations())),
                Not(testing::Contains("pull_request comment")));
  }
}

TEST(Messages, BlameNoCommitThatTheBadBuildLacks) {
  auto story = github::culprit_story();
  for (auto& bisection : story.bisections)
    for (auto& finding : bisection.findings)
      finding.missing = 1;
  auto event = event_of(Kind::explained, State::explained);
  event.commit = github::sha_of('c');
  auto const messages = messages_of(story, event, with_all_destinations());

  EXPECT_THAT(words_of(messages), Not(testing::Contains("pull_request comment")));
  auto const webhook = std::ranges::find(messages, "webhook", &OutboxMessage::destination);
  ASSERT_NE(webhook, messages.end());
  EXPECT_THAT(nlohmann::json::parse(webhook->body).at("culprits"), IsEmpty());
}

TEST(Messages, ThatReply_BeginWithTheMarkerOfTheComment) {
  Answer answer;
  answer.comment = 7;
  answer.incident = IncidentId{3};
  answer.reply = "accepted.";
  auto const message = reply_to(answer);
  EXPECT_EQ(message.incident, IncidentId{3});
  EXPECT_EQ(message.event, 0);
  EXPECT_EQ(message.destination, "github");
  EXPECT_EQ(message.action, OutboxAction::comment);
  EXPECT_EQ(message.body, message.marker + "\naccepted.");
}

TEST(Messages, EscapeTheTextOfOthers) {
  auto const story = github::ruled_story(RulingKind::accept);
  for (auto const& message : messages_of(story, story.events.back(), with_repository()))
    if (!message.body.empty()) {
      EXPECT_THAT(message.body, HasSubstr("by `ada`: `pays for itself @everyone`"));
    }
}

}  // namespace
}  // namespace torchwatch::report
