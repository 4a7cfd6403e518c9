#include "daemon/report/alarm_messages.h"

#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "daemon/report/messages.h"
#include "github/issue.h"
#include "github/updates.h"

namespace torchwatch::report {
namespace {

using nlohmann::ordered_json;

/// Drafts the messages about the beginning or the end of an alarm.
class AlarmMessages {
 public:
  AlarmMessages(AlarmReport const& report, config::Options const& options)
      : report_{report},
        options_{options},
        key_{github::key_of(report.alarm)} {}

  std::vector<OutboxMessage> all() {
    if (options_.github.repository.empty())
      add_file();
    else if (is_over())
      close_issue();
    else
      open_issue();
    if (!options_.publish.webhook.url.empty()) add_webhook();
    if (!options_.publish.email.to.empty()) add_email();
    return std::move(messages_);
  }

 private:
  bool is_over() const { return report_.alarm.cleared_at.has_value(); }

  std::string_view event() const { return is_over() ? "alarm_cleared" : "alarm_raised"; }

  OutboxAction action() const {
    return is_over() ? OutboxAction::comment : OutboxAction::open_issue;
  }

  OutboxMessage& add(std::string_view destination, OutboxAction action) {
    OutboxMessage message;
    message.destination = destination;
    message.action = action;
    message.title = report_.title;
    message.body = report_.text;
    auto const purpose = fmt::format("{} {} {}", destination, event(), to_string(action));
    message.marker = github::marker_for(key_, purpose);
    messages_.push_back(std::move(message));
    return messages_.back();
  }

  void open_issue() {
    auto& message = add(destination::github, OutboxAction::open_issue);
    message.marker = github::marker_of(key_);
    message.body = message.marker + "\n" + report_.text;
    message.labels = options_.github.labels;
  }

  void close_issue() {
    auto& comment = add(destination::github, OutboxAction::comment);
    comment.body = comment.marker + "\n" + report_.text;
    add(destination::github, OutboxAction::close_completed);
  }

  void add_file() {
    auto& message =
        add(destination::file, is_over() ? OutboxAction::edit_body : OutboxAction::open_issue);
    message.body = "# " + report_.title + "\n\n" + report_.text;
  }

  void add_webhook() {
    auto& message = add(destination::webhook, action());
    auto const& alarm = report_.alarm;
    ordered_json const json{{"id", github::digits_in(message.marker)},
                            {"event", event()},
                            {"at", github::time_text(alarm.cleared_at.value_or(alarm.raised_at))},
                            {"key", key_},
                            {"kind", to_string(alarm.kind)},
                            {"subject", alarm.subject},
                            {"detail", alarm.detail},
                            {"title", report_.title},
                            {"markdown", report_.text}};
    message.body = json.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
  }

  void add_email() { add(destination::email, action()); }

  AlarmReport const& report_;
  config::Options const& options_;
  std::string key_;
  std::vector<OutboxMessage> messages_;
};

}  // namespace

std::vector<OutboxMessage> messages_about_raised(AlarmReport const& report,
                                                 config::Options const& options) {
  return AlarmMessages{report, options}.all();
}

std::vector<OutboxMessage> messages_about_cleared(AlarmReport const& report,
                                                  config::Options const& options) {
  return AlarmMessages{report, options}.all();
}

}  // namespace torchwatch::report
