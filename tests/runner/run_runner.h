#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "run.h"
#include "workplace.h"
#include <boost/asio/io_context.hpp>

#include "runner/process/child_process.h"
#include "runner/protocol.h"

namespace torchwatch::tests {

/// A runner process, controlled like the service does it.
class RunnerProcess {
 public:
  /// Its temporary files are in `workplace`, so that a killed runner leaves nothing behind.
  explicit RunnerProcess(Workplace const& workplace,
                         std::vector<std::string> argv = {TEST_RUNNER},
                         std::map<std::string, std::string> environment = {})
      : process_{start(loop_, workplace, std::move(argv), std::move(environment))} {}

  protocol::Message receive() { return protocol::decode(run(loop_, process_.read_line()).value()); }

  void say(std::string line) { run(loop_, process_.write_line(std::move(line))).value(); }

  void give(protocol::Job const& job) { say(protocol::encode(job)); }

  /// Returns the next message that is not progress.
  protocol::Message hear_answer() {
    for (;;) {
      auto message = receive();
      if (!std::holds_alternative<protocol::Progress>(message)) return message;
    }
  }

  /// Returns the next message that is not progress; nothing at the end of the output.
  std::optional<protocol::Message> hear_last_answer() {
    for (;;) {
      auto const line = run(loop_, process_.read_line());
      if (!line) return std::nullopt;
      auto message = protocol::decode(*line);
      if (!std::holds_alternative<protocol::Progress>(message)) return message;
    }
  }

  std::string end() { return describe(run(loop_, process_.wait())); }

  process::ChildProcess& process() { return process_; }

 private:
  static process::ChildProcess start(boost::asio::io_context& loop,
                                     Workplace const& workplace,
                                     std::vector<std::string> argv,
                                     std::map<std::string, std::string> environment) {
    process::Command command;
    command.argv = std::move(argv);
    command.env = std::move(environment);
    command.env["TMPDIR"] = workplace.prefix();
    return process::ChildProcess::start(loop.get_executor(), std::move(command)).value();
  }

  boost::asio::io_context loop_{1};
  process::ChildProcess process_;
};

}  // namespace torchwatch::tests
