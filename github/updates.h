#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "storage/base/clock.h"

/// Changes of users to issues and comments, as GitHub lists them. Pure.
namespace torchwatch::github {

/// The beginning of a list that was read before: items that changed at `since` or later.
struct ListPlace {
  Timestamp since{};
  std::string etag{};  ///< that of the last answer for `since`; empty: there was none
};

/// A comment on an issue or a pull request.
struct IssueComment {
  std::int64_t id = 0;  ///< later comments have higher ids
  std::string issue;    ///< the page of its issue, in the repository as GitHub names it now
  std::string who;      ///< login of the author; empty for a deleted user
  std::string body;     ///< Markdown
  Timestamp written_at{};
  Timestamp updated_at{};

  bool is_edited() const { return updated_at != written_at; }
};

/// An issue that is closed.
struct ClosedIssue {
  std::string page;  ///< its address for people
  Timestamp updated_at{};
};

/// The reason why an issue is closed, as people gave it.
struct Closing {
  std::string who;     ///< login of the person who closed it
  std::string reason;  ///< one line; empty: none was given
  Timestamp at{};
  std::vector<std::string> labels{};  ///< those of the issue
};

/// The items of a list that changed at a time or later, the oldest change first. At most 100.
template <class Item>
struct Updates {
  std::vector<Item> items{};
  std::string etag{};
  bool is_unchanged = false;  ///< nothing changed since the `etag` of the question: no items
  bool is_full = false;       ///< there may be more
};

/// A time such as "2026-01-02T03:04:05Z" in a member of an object; nothing for anything else.
std::optional<Timestamp> time_at(nlohmann::json const& object, char const* key);

/// A time as GitHub writes it: "2026-01-02T03:04:05Z".
std::string time_text(Timestamp time);

/// A comment object of GitHub's; nothing when it is not one.
std::optional<IssueComment> read_comment(nlohmann::json const& object);

/// An issue object of GitHub's; nothing when it is not one, and for pull requests.
std::optional<ClosedIssue> read_closed(nlohmann::json const& object);

/// The closing of an issue, without the reason. Nothing when it is open, or a program closed
/// it: an App, or the user that filed it. `issue`: its object.
std::optional<Closing> read_closing(nlohmann::json const& issue);

/// The reason that the closer of an issue gave. Its comment of the minute before or after the
/// closing. For an issue that was closed as not planned, its last comment until then. Empty without
/// one. `comments`: those of the issue, in their order.
std::string reason_of_closing(nlohmann::json const& issue,
                              Closing const& closing,
                              std::vector<IssueComment> const& comments);

}  // namespace torchwatch::github
