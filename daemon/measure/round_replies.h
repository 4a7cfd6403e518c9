#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "runner/protocol.h"

namespace torchwatch::measure {

/// The answers to a round while they come in.
class RoundReplies {
 public:
  explicit RoundReplies(protocol::Round const& round);

  bool are_complete() const;

  /// Takes a line of the runner: an answer, or progress, which is passed on. Returns what is wrong
  /// with it; empty when nothing is.
  std::string take(std::string const& line,
                   std::function<void(protocol::Progress const&)> const& on_progress);

  /// The Outcome or Failure of each job, in the round's order, once they are complete. An outcome
  /// that runner::check_outcome objects to is a Failure.
  std::vector<protocol::Message> all() &&;

 private:
  bool keep(protocol::Message message);

  std::vector<protocol::Job> jobs_;
  std::vector<std::optional<protocol::Message>> answers_;
};

}  // namespace torchwatch::measure
