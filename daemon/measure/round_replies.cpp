#include "daemon/measure/round_replies.h"

#include <algorithm>
#include <utility>

#include "runner/acceptance.h"
#include "runner/process/excerpt.h"

namespace torchwatch::measure {

RoundReplies::RoundReplies(protocol::Round const& round)
    : jobs_{round.jobs},
      answers_{round.jobs.size()} {}

bool RoundReplies::are_complete() const {
  return std::ranges::all_of(answers_, [](auto const& answer) { return answer.has_value(); });
}

std::string RoundReplies::take(std::string const& line,
                               std::function<void(protocol::Progress const&)> const& on_progress) {
  try {
    auto message = protocol::decode(line);
    if (auto const* const progress = std::get_if<protocol::Progress>(&message))
      on_progress(*progress);
    else if (!keep(std::move(message)))
      return "unexpected reply";
  } catch (protocol::ProtocolError const& problem) {
    return problem.what();
  }
  return {};
}

/// Stores a reply; false when no job waits for it.
bool RoundReplies::keep(protocol::Message message) {
  auto const* const outcome = std::get_if<protocol::Outcome>(&message);
  auto const* const failure = std::get_if<protocol::Failure>(&message);
  if (outcome == nullptr && failure == nullptr) return false;
  auto const& id = outcome != nullptr ? outcome->id : failure->id;
  auto const found = std::ranges::find(jobs_, id, &protocol::Job::id);
  auto const place = static_cast<std::size_t>(found - jobs_.begin());
  if (place == jobs_.size() || answers_[place]) return false;
  auto const why = outcome != nullptr ? runner::check_outcome(*outcome, *found) : std::string{};
  if (!why.empty())
    message = protocol::Failure{
        id, "protocol", found->benchmark + ": the runner answered with " + process::excerpt(why)};
  answers_[place] = std::move(message);
  return true;
}

std::vector<protocol::Message> RoundReplies::all() && {
  std::vector<protocol::Message> messages;
  for (auto& answer : answers_)
    messages.push_back(std::move(answer.value()));
  return messages;
}

}  // namespace torchwatch::measure
