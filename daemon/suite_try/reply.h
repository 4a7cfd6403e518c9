#pragma once

#include <optional>
#include <string>

#include "runner/protocol.h"

namespace torchwatch::suite_try {

/// The next event of a conversation with a worker.
struct Heard {
  enum class Kind {
    message,  ///< `message` is set
    garbled,  ///< a line that looks like a message but is none; `text` has it, and why
    silence,  ///< nothing came within the time
    ended,    ///< the worker ended, or was stopped; `text` has how
  };
  Kind kind = Kind::silence;
  std::optional<protocol::Message> message{};
  std::string text{};
};

/// The end of a job: its result, its failure, or the reason why there is neither.
struct Reply {
  std::optional<protocol::Outcome> outcome{};
  std::optional<protocol::Failure> failure{};
  std::string problem{};  ///< empty if there is a result or a failure
  double seconds = 0;     ///< since the job was sent
};

/// Returns what came instead of a result, in one line: "failed: no such model". Empty when there is
/// a result.
std::string text_of_failure(Reply const& reply);

}  // namespace torchwatch::suite_try
