#include "runner/worker/serve.h"

#include <exception>
#include <istream>
#include <stdexcept>
#include <string>

#include <ATen/Parallel.h>

#include "runner/protocol.h"
#include "runner/suite/description/description.h"
#include "runner/worker/gpu.h"
#include "runner/worker/host.h"
#include "runner/worker/job.h"
#include "runner/worker/measure.h"
#include "runner/worker/wire.h"

namespace torchwatch::worker {
namespace {

using protocol::Failure;
using protocol::Message;

void send(Message const& message) {
  send_line(protocol::encode(message));
}

protocol::Hello hello() {
  protocol::Hello hello;
  hello.role = "worker";
  hello.pytorch_version = pytorch_version();
  hello.git_hash = git_hash();
  hello.devices = {"cpu"};
  if (gpu::is_available()) hello.devices.emplace_back("cuda");
  hello.fingerprint = fingerprint();
  return hello;
}

/// LibTorch appends its backtrace, line by line.
std::string first_line_of(std::exception const& problem) {
  std::string const text = problem.what();
  return text.substr(0, text.find('\n'));
}

/// Waits on `input` for the job's next turn.
void wait_for_turn(protocol::Job const& job, std::istream& input) {
  send(protocol::Ready{job.id});
  std::string line;
  if (!std::getline(input, line)) throw std::runtime_error("input ended before the next turn");
  auto const message = protocol::decode(line);
  if (!std::holds_alternative<protocol::Turn>(message))
    throw protocol::ProtocolError("waited for a turn, found another message");
}

Message run(protocol::Job const& job, std::istream& input) {
  auto const listener = [&job](std::string const& phase, int done, int total) {
    send(protocol::Progress{job.id, phase, done, total});
  };
  auto const semaphore = [&job, &input] {
    if (job.takes_turns) wait_for_turn(job, input);
  };
  try {
    return measure(job, listener, semaphore);
  } catch (Unsupported const& problem) {
    return Failure{job.id, "unsupported", problem.what()};
  } catch (suite::BadDescription const& problem) {
    return Failure{job.id, "unsupported", job.benchmark + ": " + problem.what()};
  } catch (c10::Error const& problem) {
    auto const text = job.benchmark + ": " + first_line_of(problem);
    if (!is_about_precision(problem, job)) return Failure{job.id, "failed", text};
    return Failure{job.id, "unsupported", text + " (precision " + job.measure.precision + ")"};
  } catch (std::exception const& problem) {
    return Failure{job.id, "failed", job.benchmark + ": " + first_line_of(problem)};
  }
}

Message answer(std::string const& line, std::istream& input) {
  try {
    auto const message = protocol::decode(line);
    if (auto const* job = std::get_if<protocol::Job>(&message)) return run(*job, input);
    return Failure{"", "protocol", "a worker reads jobs, found another message"};
  } catch (protocol::ProtocolError const& problem) {
    return Failure{"", "protocol", problem.what()};
  }
}

}  // namespace

void serve(std::istream& jobs) {
  keep_freed_memory();
  at::set_num_interop_threads(1);
  send(hello());
  std::string line;
  while (std::getline(jobs, line))
    send(answer(line, jobs));
}

}  // namespace torchwatch::worker
