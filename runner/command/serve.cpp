#include "runner/command/serve.h"

#include <cerrno>
#include <exception>
#include <istream>
#include <string_view>

#include <unistd.h>

#include "runner/command/build.h"
#include "runner/command/log.h"
#include "runner/command/measure.h"
#include "runner/protocol.h"
#include "runner/worker/conversation.h"

namespace torchwatch::command {
namespace {

using protocol::Failure;
using protocol::Message;

void write_to_standard_error(std::string_view text) {
  while (!text.empty()) {
    auto const written = ::write(STDERR_FILENO, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return;  // a log that cannot be written fails no job
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

protocol::Hello hello() {
  protocol::Hello hello;
  hello.role = "worker";
  hello.devices = {"cpu", "cuda"};
  hello.fingerprint = fingerprint(1, Build{});
  return hello;
}

Message run(protocol::Job const& job, std::istream& input) {
  Runner runner;
  runner.report = [&job](int done, int total) {
    worker::send(protocol::Progress{job.id, "run", done, total});
  };
  runner.wait_for_turn = [&job, &input] {
    worker::wait_for_turn(job, input);
  };
  Log log{&write_to_standard_error};
  try {
    return measure(job, runner, log);
  } catch (std::exception const& problem) {
    return Failure{job.id, "failed", problem.what()};
  }
}

}  // namespace

void serve(std::istream& jobs) {
  worker::answer_jobs(jobs, hello(), [&jobs](protocol::Job const& job) { return run(job, jobs); });
}

}  // namespace torchwatch::command
