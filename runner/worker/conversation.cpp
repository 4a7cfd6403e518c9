#include "runner/worker/conversation.h"

#include <istream>
#include <stdexcept>
#include <string>
#include <variant>

#include "runner/worker/wire.h"

namespace torchwatch::worker {
namespace {

using protocol::Failure;
using Run = std::function<protocol::Message(protocol::Job const&)>;

protocol::Message answer_to(std::string const& line, Run const& run) {
  try {
    auto const message = protocol::decode(line);
    if (auto const* const job = std::get_if<protocol::Job>(&message)) return run(*job);
    return Failure{"", "protocol", "a worker reads jobs, found another message"};
  } catch (protocol::ProtocolError const& problem) {
    return Failure{"", "protocol", problem.what()};
  }
}

}  // namespace

void send(protocol::Message const& message) {
  send_line(protocol::encode(message));
}

void wait_for_turn(protocol::Job const& job, std::istream& input) {
  if (!job.takes_turns) return;
  send(protocol::Ready{job.id});
  std::string line;
  if (!std::getline(input, line)) throw std::runtime_error("input ended before the next turn");
  auto const message = protocol::decode(line);
  if (!std::holds_alternative<protocol::Turn>(message))
    throw protocol::ProtocolError("waited for a turn, found another message");
}

void answer_jobs(std::istream& input, protocol::Hello const& hello, Run const& run) {
  send(hello);
  std::string line;
  while (std::getline(input, line))
    send(answer_to(line, run));
}

}  // namespace torchwatch::worker
