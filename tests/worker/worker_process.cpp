#include "worker_process.h"

#include <array>
#include <cstdlib>
#include <stdexcept>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace torchwatch {
namespace {

std::array<int, 2> make_pipe() {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
  return ends;
}

}  // namespace

WorkerProcess::WorkerProcess(std::string const& preload,
                             std::vector<std::string> arguments,
                             std::string const& program) {
  auto const to_worker = make_pipe();
  auto const from_worker = make_pipe();
  arguments.insert(arguments.begin(), program);
  std::vector<char*> argv;
  for (auto& argument : arguments)
    argv.push_back(argument.data());
  argv.push_back(nullptr);

  pid_ = fork();  // NOLINT(cppcoreguidelines-prefer-member-initializer): after the pipes
  if (pid_ == 0) {
    dup2(to_worker[0], STDIN_FILENO);
    dup2(from_worker[1], STDOUT_FILENO);
    if (!preload.empty()) setenv("LD_PRELOAD", preload.c_str(), 1);
    execv(argv[0], argv.data());
    _exit(127);
  }
  close(to_worker[0]);
  close(from_worker[1]);
  input_.reset(fdopen(to_worker[1], "w"));
  output_.reset(fdopen(from_worker[0], "r"));
}

WorkerProcess::~WorkerProcess() {
  if (pid_ > 0) finish();
}

void WorkerProcess::write_line(std::string const& line) {
  std::fputs((line + "\n").c_str(), input_.get());
  std::fflush(input_.get());
}

std::string WorkerProcess::read_line() {
  std::string line;
  for (int byte = std::fgetc(output_.get()); byte != EOF && byte != '\n';
       byte = std::fgetc(output_.get()))
    line += static_cast<char>(byte);
  return line;
}

protocol::Message WorkerProcess::read_message() {
  return protocol::decode(read_line());
}

protocol::Message WorkerProcess::ask(protocol::Message const& message) {
  write_line(protocol::encode(message));
  for (;;) {
    auto answer = read_message();
    if (!std::holds_alternative<protocol::Progress>(answer)) return answer;
  }
}

bool WorkerProcess::is_running() const {
  return waitpid(pid_, nullptr, WNOHANG) == 0;
}

int WorkerProcess::finish() {
  input_.reset();
  int status = 0;
  waitpid(pid_, &status, 0);
  pid_ = -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace torchwatch
