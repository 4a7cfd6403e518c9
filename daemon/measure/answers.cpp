#include "daemon/measure/answers.h"

#include <algorithm>
#include <utility>

namespace torchwatch::measure {

Answers::Answers(protocol::Round const& round) {
  for (auto const& job : round.jobs)
    ids_.push_back(job.id);
  answers_.resize(ids_.size());
}

bool Answers::are_complete() const {
  return std::ranges::all_of(answers_, [](auto const& answer) { return answer.has_value(); });
}

std::string Answers::take(std::string const& line,
                          std::function<void(protocol::Progress const&)> const& on_progress) {
  try {
    auto message = protocol::decode(line);
    if (auto const* const progress = std::get_if<protocol::Progress>(&message))
      on_progress(*progress);
    else if (!keep(std::move(message)))
      return "it answered what nobody asked";
  } catch (protocol::ProtocolError const& problem) {
    return problem.what();
  }
  return {};
}

/// False when nobody waits for it.
bool Answers::keep(protocol::Message message) {
  auto const* const outcome = std::get_if<protocol::Outcome>(&message);
  auto const* const failure = std::get_if<protocol::Failure>(&message);
  if (outcome == nullptr && failure == nullptr) return false;
  auto const& id = outcome != nullptr ? outcome->id : failure->id;
  auto const place = static_cast<std::size_t>(std::ranges::find(ids_, id) - ids_.begin());
  if (place == ids_.size() || answers_[place]) return false;
  answers_[place] = std::move(message);
  return true;
}

std::vector<protocol::Message> Answers::all() && {
  std::vector<protocol::Message> messages;
  for (auto& answer : answers_)
    messages.push_back(std::move(answer.value()));
  return messages;
}

}  // namespace torchwatch::measure
