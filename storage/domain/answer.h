#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "storage/base/clock.h"
#include "storage/base/ids.h"

namespace torchwatch {

/// A comment on a report that is answered, or was ignored. Each comment is at most one.
struct Answer {
  /// GitHub's id of the comment. The closing of an issue has the id of its incident, negative.
  std::int64_t comment = 0;
  IncidentId incident;
  /// The commands of the comment, a line each: "/torchwatch status". Empty: none is carried out.
  std::string command;
  std::string who;  ///< login of the author, or of the person who closed it
  Timestamp at{};   ///< when it was first read
  /// Markdown. Empty: there is no reply. Absent: the commands were not carried out yet.
  std::optional<std::string> reply{};

  bool is_closing() const { return comment < 0; }
};

/// The lists of GitHub that are read again and again.
enum class ReadList { comments, closed_issues };

/// The state of reading such a list.
struct ReadPlace {
  Timestamp since{};   ///< all earlier changes were read
  std::string etag{};  ///< that of GitHub's last answer for `since`; empty: there was none
  std::int64_t last_comment = 0;  ///< the highest id of a comment that was read
};

}  // namespace torchwatch
