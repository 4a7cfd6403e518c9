#include <iostream>
#include <string>
#include <vector>

#include "runner/protocol.h"

// Prints a message of each kind with all fields set, and one with the fewest, a line each. With
// --decode, reads lines instead, and prints for each "ok", or why it is not a message.
namespace torchwatch::protocol {
namespace {

Hello full_hello() {
  Hello hello;
  hello.role = "worker";
  hello.pytorch_version = "2.9.0";
  hello.git_hash = "1a2b3c4";
  hello.devices = {"cpu", "cuda"};
  hello.fingerprint = {{"host", "lab"}, {"threads", 4}};
  return hello;
}

Job full_job() {
  Job job;
  job.id = "7";
  job.benchmark = "test_run[tiny-cpu-plain]";
  job.build = {"/builds/a", "/opt/worker", {"srun"}, {{"OMP_NUM_THREADS", "1"}}, {"/lib/a.so"}};
  job.takes_turns = true;
  job.metrics = {"steps", "time"};
  job.exact = {"steps"};
  job.command = {"bench", "{model}"};
  job.waits = true;
  job.readable = {"/opt/data"};
  job.caches = {{"TORCHINDUCTOR_CACHE_DIR"}, "/var/lib/torchwatch/caches/7", "a", true};
  return job;
}

Round full_round() {
  Round round;
  round.jobs = {full_job(), Job{}};
  round.seed = 4294967295U;
  round.one_by_one = true;
  return round;
}

Outcome full_outcome() {
  Outcome outcome;
  outcome.id = "7";
  outcome.benchmark = "test_run[tiny-cpu-plain]";
  outcome.metrics["time"] = {20.4, {20.1, 20.7}, {1}};
  outcome.metrics["steps"] = {300, {300}, {}};
  outcome.accounts = {{"rss_peak_bytes", 1e6}};
  outcome.profile = {{"aten::add.Tensor", 2, 0.5, 4096}};
  outcome.pytorch_version = "2.9.0";
  outcome.git_hash = "1a2b3c4";
  outcome.fingerprint = {{"host", "lab"}};
  outcome.seconds = 1.3;
  return outcome;
}

Hello least_hello() {
  Hello hello;
  hello.role = "runner";
  return hello;
}

void print_messages() {
  std::vector<Message> const messages{full_hello(),
                                      least_hello(),
                                      full_job(),
                                      Job{},
                                      full_round(),
                                      Round{},
                                      Ready{"7"},
                                      Turn{"7"},
                                      Progress{"7", "warmup", 1, 3},
                                      full_outcome(),
                                      Outcome{},
                                      Failure{"7", "unsupported", "no such model"},
                                      Failure{}};
  for (auto const& message : messages)
    std::cout << encode(message) << '\n';
}

void decode_lines() {
  for (std::string line; std::getline(std::cin, line);) {
    try {
      decode(line);
      std::cout << "ok\n";
    } catch (ProtocolError const& problem) {
      std::cout << problem.what() << '\n';
    }
  }
}

}  // namespace
}  // namespace torchwatch::protocol

int main(int argc, char** argv) {
  bool const decodes = argc > 1 && std::string{argv[1]} == "--decode";
  if (decodes)
    torchwatch::protocol::decode_lines();
  else
    torchwatch::protocol::print_messages();
  return 0;
}
