#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "runner/protocol.h"

namespace torchwatch::measure {

/// The replies to a round while they arrive.
class RoundReplies {
 public:
  explicit RoundReplies(protocol::Round const& round);

  bool are_complete() const;

  /// Takes a line of the runner: a reply, or progress, which is passed on. Returns the error in it;
  /// empty without one.
  std::string take(std::string const& line,
                   std::function<void(protocol::Progress const&)> const& on_progress);

  /// Returns the Outcome or Failure of each job, in the round's order. Call when they are complete.
  /// An outcome that fails runner::check_outcome becomes a Failure.
  std::vector<protocol::Message> all() &&;

 private:
  bool keep(protocol::Message message);

  std::vector<protocol::Job> jobs_;
  std::vector<std::optional<protocol::Message>> answers_;
};

}  // namespace torchwatch::measure
