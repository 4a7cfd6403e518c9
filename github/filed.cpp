#include "github/filed.h"

#include <string_view>

#include "github/comment.h"

namespace torchwatch::github {
namespace {

/// The delivered messages to one destination.
std::vector<OutboxEntry> delivered_to(std::string_view destination,
                                      std::vector<OutboxEntry> const& messages) {
  std::vector<OutboxEntry> delivered;
  for (auto const& entry : messages) {
    bool const was_delivered = entry.done_at && entry.failure.empty();
    if (was_delivered && entry.message.destination == destination) delivered.push_back(entry);
  }
  return delivered;
}

/// The texts of an issue.
struct FiledIssue {
  std::string title{};
  std::string body{};
  std::vector<std::string> comments{};

  /// Adds the text of a message. An edit that has the address of a comment became that comment.
  void add(OutboxEntry const& entry) {
    auto const& message = entry.message;
    bool const is_comment = entry.place.find("#issuecomment-") != std::string::npos;
    if (message.action == OutboxAction::comment) {
      comments.push_back(message.body);
    } else if (message.action == OutboxAction::edit_body && is_comment) {
      comments.push_back(comment_in_place_of(message.body, message.marker));
    } else if (!message.body.empty()) {
      body = message.body;
      if (title.empty()) title = message.title;  // later versions leave the title as it is
    }
  }
};

}  // namespace

std::string filed_report(std::vector<OutboxEntry> const& messages) {
  auto const delivered = delivered_to("github", messages);
  if (delivered.empty()) {
    auto const files = delivered_to("file", messages);
    return files.empty() ? std::string{} : files.back().message.body;
  }
  FiledIssue issue;
  for (auto const& entry : delivered)
    issue.add(entry);
  auto text = "# " + issue.title + "\n\n" + issue.body;
  for (auto const& comment : issue.comments)
    text += "\n---\n\n" + comment;
  return text;
}

}  // namespace torchwatch::github
