#include "runner/command/child.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runner/command/text.h"
#include "runner/process/process_tree.h"

namespace torchwatch::command {
namespace {

using process::Descriptor;

/// The exit status with which a command declines a build. `git bisect run` skips a commit for it.
constexpr int declined = 125;

/// Reads what a pipe holds, at most 64 KiB. Closes the pipe at its end.
std::string read_available(Descriptor& pipe) {
  constexpr std::size_t most = std::size_t{64} << 10;
  std::string bytes(most, '\0');
  auto const size = pipe.is_open() ? ::read(pipe.get(), bytes.data(), bytes.size()) : 0;
  if (size == 0) pipe = Descriptor{};
  bytes.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
  return bytes;
}

std::string describe_signal(int signal) {
  char const* const name = ::sigabbrev_np(signal);
  char const* const meaning = ::sigdescr_np(signal);
  if (name == nullptr || meaning == nullptr) return "killed by signal " + std::to_string(signal);
  return std::string{"killed by SIG"} + name + " (" + meaning + ")";
}

}  // namespace

Result<Child> Child::start(std::vector<std::string> argv,
                           std::vector<std::string> environment,
                           Log& log) {
  auto input = process::make_pipe();
  if (!input) return input.error();
  auto output = process::make_pipe();
  if (!output) return output.error();
  auto errors = process::make_pipe();
  if (!errors) return errors.error();
  for (int const ours : {output->read.get(), errors->read.get()})
    ::fcntl(ours, F_SETFL, O_NONBLOCK);

  process::Spawn program;
  program.argv = std::move(argv);
  program.environment = std::move(environment);
  program.input = std::move(input->read);
  program.output = std::move(output->write);
  program.errors = std::move(errors->write);
  program.leads_group = false;
  auto child = process::spawn(program);
  if (!child) return child.error();
  return Child{std::move(*child),
               std::move(input->write),
               std::move(output->read),
               std::move(errors->read),
               log};
}

Child::Child(
    process::Spawned child, Descriptor input, Descriptor output, Descriptor errors, Log& log)
    : pid_{child.pid},
      handle_{std::move(child.handle)},
      input_{std::move(input)},
      output_{std::move(output)},
      errors_{std::move(errors)},
      log_{&log} {}

Child::~Child() {
  if (handle_.is_open()) process::kill_all_children();
}

Child::Read Child::read(int patience) {
  // poll() ignores a descriptor of -1: a pipe that is closed.
  std::array<pollfd, 3> events{pollfd{output_.get(), POLLIN, 0},
                               pollfd{errors_.get(), POLLIN, 0},
                               pollfd{handle_.get(), POLLIN, 0}};
  int ready = 0;
  do {
    ready = ::poll(events.data(), events.size(), patience);
  } while (ready < 0 && errno == EINTR);
  bool const has_output = read_output();
  bool const has_errors = read_errors();
  if (has_output || has_errors) return Read::some;
  return events[2].revents != 0 ? Read::ended : Read::nothing;
}

bool Child::read_output() {
  auto const bytes = read_available(output_);
  output_text_ += bytes;
  received_ += bytes.size();
  return !bytes.empty();
}

bool Child::read_errors() {
  auto const bytes = read_available(errors_);
  log_->add(bytes);
  return !bytes.empty();
}

bool Child::write(std::string_view text) {
  while (!text.empty()) {
    auto const written = ::write(input_.get(), text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

int Child::end() {
  int status = 0;
  while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR)
    continue;
  process::kill_all_children();
  handle_ = Descriptor{};
  return status;
}

Result<> check_status(int wait_status, std::string_view log) {
  bool const has_exited = WIFEXITED(wait_status);
  int const code = has_exited ? WEXITSTATUS(wait_status) : 0;
  if (has_exited && code == 0) return {};
  auto const how =
      has_exited ? "exit status " + std::to_string(code) : describe_signal(WTERMSIG(wait_status));
  auto const words = last_line(log);
  return Error{code == declined ? ErrorCode::refused : ErrorCode::unavailable,
               how + (words.empty() ? "; it printed no reason" : ": " + words)};
}

}  // namespace torchwatch::command
