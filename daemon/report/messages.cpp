#include "daemon/report/messages.h"

#include <algorithm>
#include <ctime>
#include <string>
#include <utility>
#include <vector>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "github/bisection_story.h"
#include "github/comment.h"
#include "github/issue.h"
#include "github/life_story.h"
#include "github/markdown.h"
#include "github/reply.h"
#include "storage/domain/project.h"

namespace torchwatch::report {
namespace {

using nlohmann::ordered_json;
using Kind = IncidentEventKind;

bool is_same_event(IncidentEvent const& one, IncidentEvent const& other) {
  return one.kind == other.kind && one.at == other.at && one.nightly == other.nightly &&
         one.commit == other.commit && one.detail == other.detail;
}

/// The story as it is once the event is stored.
IncidentStory story_after(IncidentStory story, IncidentEvent const& event) {
  story.incident.state = event.state;
  if (story.events.empty() || !is_same_event(story.events.back(), event))
    story.events.push_back(event);
  return story;
}

bool is_correction(IncidentStory const& story, IncidentEvent const& event) {
  return event.kind == Kind::answered && !story.incident.correction.empty() &&
         event.detail == story.incident.correction;
}

bool ends_as_not_planned(IncidentState state) {
  return state == IncidentState::accepted || state == IncidentState::false_alarm;
}

/// Returns the actions on the issue, in this order.
std::vector<OutboxAction> actions_on_issue(IncidentStory const& story, IncidentEvent const& event) {
  using enum OutboxAction;
  switch (event.kind) {
    case Kind::opened:
      return {open_issue};
    case Kind::fix_expected:
      return {edit_body};
    case Kind::explained:
    case Kind::series_joined:
    case Kind::partly_fixed:
    case Kind::stale:
      return {edit_body, comment};
    case Kind::fixed:
      return {edit_body, comment, close_completed};
    case Kind::returned:
      if (ends_as_not_planned(event.state)) return {edit_body, comment};
      return {reopen, edit_body, comment};
    case Kind::ruled:
      if (ends_as_not_planned(event.state)) return {edit_body, comment, close_not_planned};
      return {edit_body, comment};
    case Kind::answered:
      if (is_correction(story, event)) return {edit_body, comment};
      return {comment};
  }
  return {};
}

std::string no_bisection_in(config::Options const& options) {
  if (options.source.repository.empty())
    return "No bisection is possible, since no repository is configured.";
  return "No commit is known yet: the bisection has not begun.";
}

std::string time_in_words(Timestamp time) {
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}",
                     fmt::gmtime(std::time_t{time.time_since_epoch().count()}));
}

ordered_json json_of(Series const& series) {
  return {{"fleet", series.fleet},
          {"benchmark", name_of(series.benchmark)},
          {"metric", to_string(series.metric)}};
}

ordered_json json_of(Comparison const& comparison, Series const& series) {
  auto json = json_of(series);
  json["before"] = comparison.before;
  json["after"] = comparison.after;
  json["ratio"] = comparison.ratio ? ordered_json(comparison.ratio->ratio) : ordered_json();
  return json;
}

/// The commits that bisections proved to be to blame, each once.
ordered_json culprits_in(IncidentStory const& story) {
  auto culprits = ordered_json::array();
  for (auto const& bisection : story.bisections) {
    for (auto const& finding : bisection.findings) {
      if (!is_to_blame(finding)) continue;
      auto const& commit = finding.suspects.front();
      ordered_json culprit{{"commit", commit.sha.hex}, {"subject", commit.subject}};
      culprit["pull_request"] =
          commit.pull_request ? ordered_json(*commit.pull_request) : ordered_json();
      if (std::find(culprits.begin(), culprits.end(), culprit) == culprits.end())
        culprits.push_back(std::move(culprit));
    }
  }
  return culprits;
}

/// Drafts the messages of one event.
class Messages {
 public:
  Messages(IncidentStory story, IncidentEvent const& event, config::Options const& options)
      : story_{std::move(story)},
        event_{event},
        options_{options},
        key_{github::key_of(story_)} {}

  std::vector<OutboxMessage> all() {
    if (options_.github.repository.empty())
      add_file();
    else
      add_issue();
    if (!options_.publish.webhook.url.empty()) add_webhook();
    if (!options_.publish.email.to.empty()) add_email();
    if (options_.publish.pull_request_comment) add_pull_request_comment();
    return std::move(messages_);
  }

 private:
  bool is_new() const { return event_.kind == Kind::opened; }

  std::string marker_for(std::string_view destination, std::string_view action = {}) const {
    auto const purpose = action.empty() ? std::string{destination}
                                        : std::string{destination}.append(" ").append(action);
    return github::marker_of(story_, event_, purpose);
  }

  OutboxMessage& add(std::string_view destination, OutboxAction action, std::string marker) {
    OutboxMessage message;
    message.incident = event_.incident;
    message.event = event_.id;
    message.destination = destination;
    message.action = action;
    message.marker = std::move(marker);
    messages_.push_back(std::move(message));
    return messages_.back();
  }

  /// `marker`: the hidden line of a new version of the body; empty for the first.
  github::IssueDraft report(std::string marker) const {
    github::ReportContext context;
    context.labels = options_.github.labels;
    if (!options_.github.repository.empty())
      context.false_alarm_label = options_.github.false_alarm_label;
    if (story_.incident.state == IncidentState::open)
      context.no_bisection = no_bisection_in(options_);
    context.marker = std::move(marker);
    return github::draft_issue(story_, context);
  }

  std::string news() const { return github::event_story(story_, event_, project_url); }

  void add_issue() {
    for (auto const action : actions_on_issue(story_, event_))
      add_action(action);
  }

  void add_action(OutboxAction action) {
    bool const is_opening = action == OutboxAction::open_issue;
    auto& message = add(
        destination::github,
        action,
        is_opening ? github::marker_of(key_) : marker_for(destination::github, to_string(action)));
    if (is_opening || action == OutboxAction::edit_body) {
      auto draft = report(is_opening ? std::string{} : message.marker);
      message.title = std::move(draft.title);
      message.body = std::move(draft.body);
      if (is_opening) message.labels = std::move(draft.labels);
    } else if (action == OutboxAction::comment) {
      auto draft = github::draft_comment(story_, event_, project_url);
      message.marker = std::move(draft.marker);
      message.body = std::move(draft.body);
    }
  }

  void add_file() {
    auto const action = is_new() ? OutboxAction::open_issue : OutboxAction::edit_body;
    auto& message = add(destination::file, action, marker_for(destination::file));
    auto draft = report({});
    message.body =
        "# " + draft.title + "\n\n" + draft.body + github::history_story(story_, project_url);
    message.title = std::move(draft.title);
  }

  void add_webhook() {
    auto const action = is_new() ? OutboxAction::open_issue : OutboxAction::comment;
    auto& message = add(destination::webhook, action, marker_for(destination::webhook));
    auto const draft = report({});
    message.title = draft.title;
    auto const json = body_of_webhook(draft, message.marker);
    message.body = json.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
  }

  ordered_json body_of_webhook(github::IssueDraft const& draft, std::string_view marker) const {
    ordered_json json{{"id", github::digits_in(marker)},
                      {"event", to_string(event_.kind)},
                      {"at", time_in_words(event_.at)},
                      {"incident", event_.incident.value},
                      {"key", key_},
                      {"state", to_string(event_.state)},
                      {"title", draft.title}};
    json["nightly"] =
        event_.nightly ? ordered_json(github::date_in(story_, *event_.nightly)) : ordered_json();
    json["commit"] = event_.commit.hex.empty() ? ordered_json() : ordered_json(event_.commit.hex);
    json["detail"] = event_.detail;
    json["series"] = ordered_json::array();
    for (auto const& change : story_.incident.changes)
      json["series"].push_back(json_of(change.comparison, change.series));
    json["recovered"] = ordered_json::array();
    for (auto const& recovery : story_.recoveries)
      json["recovered"].push_back(json_of(recovery.comparison, recovery.series));
    json["culprits"] = culprits_in(story_);
    json["markdown"] = is_new() ? draft.body : news();
    return json;
  }

  void add_email() {
    auto const action = is_new() ? OutboxAction::open_issue : OutboxAction::comment;
    auto& message = add(destination::email, action, marker_for(destination::email));
    auto draft = report({});
    message.title =
        is_new() ? draft.title : github::headline_of(story_, event_) + ": " + draft.title;
    message.body = is_new() ? std::string{github::without_markers(draft.body)} : news();
  }

  /// The comment on the pull request of the commit that the event names, unless an earlier event
  /// named it, or a user ruled that nothing is wrong.
  void add_pull_request_comment() {
    auto const* const finding = culprit();
    bool const is_news = event_.kind == Kind::explained && !ends_as_not_planned(event_.state);
    if (!is_news || finding == nullptr || was_named_before()) return;
    auto const& commit = finding->suspects.front();
    if (!commit.pull_request) return;
    auto draft = github::draft_pull_request_comment(story_, *finding, project_url);
    auto& message = add(destination::pull_request, OutboxAction::comment, std::move(draft.marker));
    message.title = github::pull_request_link(commit, project_url);
    message.body = std::move(draft.body);
  }

  Finding const* culprit() const {
    for (auto const& bisection : story_.bisections)
      for (auto const& finding : bisection.findings)
        if (is_to_blame(finding) && finding.suspects.front().sha == event_.commit) return &finding;
    return nullptr;
  }

  bool was_named_before() const {
    return std::ranges::any_of(story_.events, [&](IncidentEvent const& earlier) {
      return earlier.kind == Kind::explained && earlier.commit == event_.commit &&
             !is_same_event(earlier, event_);
    });
  }

  IncidentStory story_;
  IncidentEvent const& event_;
  config::Options const& options_;
  std::string key_;
  std::vector<OutboxMessage> messages_;
};

}  // namespace

std::vector<OutboxMessage> messages_of(IncidentStory const& story,
                                       IncidentEvent const& event,
                                       config::Options const& options) {
  return Messages{story_after(story, event), event, options}.all();
}

OutboxMessage reply_to(Answer const& answer) {
  auto draft = github::draft_reply(answer.comment, answer.reply.value());
  OutboxMessage message;
  message.incident = answer.incident;
  message.destination = destination::github;
  message.action = OutboxAction::comment;
  message.marker = std::move(draft.marker);
  message.body = std::move(draft.body);
  return message;
}

}  // namespace torchwatch::report
