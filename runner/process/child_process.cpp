#include "runner/process/child_process.h"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <poll.h>
#include <sys/wait.h>

#include "runner/process/environment.h"
#include "runner/process/lines.h"
#include "runner/process/spawn.h"
#include "runner/process/stderr_tail.h"

namespace torchwatch::process {

namespace asio = boost::asio;
using asio::posix::stream_descriptor;

namespace {

/// The time that a destructor waits for a killed process. One that is stuck in a driver call cannot
/// be reaped and must not block the caller forever.
constexpr int reap_patience_ms = 10'000;

void prepare_signals() {
  std::signal(SIGPIPE, SIG_IGN);

  // Our parent may have left SIGCHLD ignored. Then the kernel would discard exit statuses.
  struct sigaction current {};

  ::sigaction(SIGCHLD, nullptr, &current);
  if (current.sa_handler == SIG_IGN) std::signal(SIGCHLD, SIG_DFL);
}

std::vector<std::string> environment_of(Command const& command) {
  auto variables = inherited_variables(command.inherits);
  for (auto const& name : command.withholds)
    variables.erase(name);
  for (auto const& [name, value] : command.env)
    variables[name] = value;

  std::vector<std::string> entries;
  for (auto const& [name, value] : variables)
    entries.push_back(name + '=' + value);
  return entries;
}

Result<Descriptor> open_for_append(std::string const& file) {
  Descriptor opened{::open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644)};
  if (opened.is_open()) return opened;
  int const error = errno;
  bool const is_of_host = is_shortage(error);
  auto code = error == ENOENT ? ErrorCode::not_found : ErrorCode::refused;
  if (is_of_host) code = ErrorCode::unavailable;
  return Error{code, "open " + file + ": " + std::generic_category().message(error), is_of_host};
}

/// The destination of a child's output: a file, or a pipe of which we keep one end.
struct Output {
  Descriptor ours;
  Descriptor theirs;
};

Result<Output> open_output(std::string const& file) {
  if (file.empty()) {
    auto pipe = make_pipe();
    if (!pipe) return pipe.error();
    return Output{std::move(pipe->read), std::move(pipe->write)};
  }
  auto opened = open_for_append(file);
  if (!opened) return opened.error();
  return Output{Descriptor{}, std::move(*opened)};
}

stream_descriptor adopt(asio::any_io_executor const& executor, Descriptor descriptor) {
  if (!descriptor.is_open()) return stream_descriptor{executor};
  return stream_descriptor{executor, descriptor.release()};
}

/// Returns nothing while the process runs. Leaves an ended process as a zombie, so that its number
/// and that of its group are not reused.
std::optional<ExitStatus> status_of(pid_t pid) {
  siginfo_t info{};
  auto const id = static_cast<id_t>(pid);
  if (::waitid(P_PID, id, &info, WEXITED | WNOWAIT | WNOHANG) != 0) {
    throw std::system_error{
        errno, std::generic_category(), "wait for process " + std::to_string(pid)};
  }
  if (info.si_pid == 0) return std::nullopt;
  if (info.si_code == CLD_EXITED) return ExitStatus{info.si_status, 0};
  return ExitStatus{0, info.si_status};
}

}  // namespace

std::string describe(ExitStatus status) {
  if (status.signal == 0) return "exit status " + std::to_string(status.code);
  char const* const name = ::sigabbrev_np(status.signal);
  char const* const meaning = ::sigdescr_np(status.signal);
  if (name == nullptr || meaning == nullptr)
    return "killed by signal " + std::to_string(status.signal);
  return std::string{"killed by SIG"} + name + " (" + meaning + ")";
}

struct ChildProcess::State {
  pid_t pid;
  stream_descriptor handle;  ///< a pidfd: readable once the child has ended
  stream_descriptor input;
  LineReader output;
  std::shared_ptr<StderrTail> errors;

  State(asio::any_io_executor const& executor,
        Spawned child,
        Descriptor in,
        Descriptor out,
        Descriptor err)
      : pid{child.pid},
        handle{adopt(executor, std::move(child.handle))},
        input{adopt(executor, std::move(in))},
        output{adopt(executor, std::move(out))},
        errors{std::make_shared<StderrTail>(adopt(executor, std::move(err)))} {
    errors->start();
  }

  State(State const&) = delete;
  State& operator=(State const&) = delete;

  ~State() {
    errors->stop();
    ::kill(-pid, SIGKILL);
    wait_blocking(reap_patience_ms);
    ::waitpid(pid, nullptr, WNOHANG);
  }

  /// Waits until the child has ended, at most so many milliseconds.
  void wait_blocking(int milliseconds) {
    pollfd ended{handle.native_handle(), POLLIN, 0};
    while (::poll(&ended, 1, milliseconds) < 0 && errno == EINTR)
      continue;
  }
};

Result<ChildProcess> ChildProcess::start(asio::any_io_executor executor, Command command) {
  if (command.argv.empty() || command.argv.front().empty()) {
    return Error{ErrorCode::invalid_argument, "start a program: argv is empty"};
  }
  prepare_signals();

  auto input = make_pipe();
  if (!input) return input.error();
  auto output = open_output(command.stdout_file);
  if (!output) return within("start " + command.argv.front(), output.error());
  auto errors = open_output(command.stderr_file);
  if (!errors) return within("start " + command.argv.front(), errors.error());

  Spawn program{std::move(command.argv),
                environment_of(command),
                std::move(command.directory),
                std::move(command.processors),
                std::move(input->read),
                std::move(output->theirs),
                std::move(errors->theirs)};
  auto child = spawn(program);
  if (!child) return child.error();
  auto state = std::make_unique<State>(executor,
                                       std::move(*child),
                                       std::move(input->write),
                                       std::move(output->ours),
                                       std::move(errors->ours));
  return ChildProcess{std::move(state)};
}

ChildProcess::ChildProcess(std::unique_ptr<State> state) : state_{std::move(state)} {}

ChildProcess::ChildProcess(ChildProcess&& other) noexcept = default;
ChildProcess& ChildProcess::operator=(ChildProcess&& other) noexcept = default;
ChildProcess::~ChildProcess() = default;

asio::awaitable<Result<std::string>> ChildProcess::read_line() {
  return state_->output.read_line();
}

asio::awaitable<Result<std::string>> ChildProcess::read_block() {
  return state_->output.read_block();
}

asio::awaitable<Result<>> ChildProcess::write_line(std::string line) {
  return process::write_line(state_->input, std::move(line));
}

void ChildProcess::close_stdin() {
  boost::system::error_code ignored;
  state_->input.close(ignored);
}

asio::awaitable<ExitStatus> ChildProcess::wait() {
  for (;;) {
    if (auto const status = status_of(state_->pid)) co_return *status;
    co_await state_->handle.async_wait(stream_descriptor::wait_read, asio::use_awaitable);
  }
}

bool ChildProcess::has_ended() const {
  return status_of(state_->pid).has_value();
}

void ChildProcess::kill_group(int signal) noexcept {
  ::kill(-state_->pid, signal);
}

void ChildProcess::terminate(std::chrono::milliseconds patience) noexcept {
  kill_group(SIGTERM);
  state_->wait_blocking(static_cast<int>(patience.count()));
  kill_group(SIGKILL);
  state_->wait_blocking(reap_patience_ms);
}

pid_t ChildProcess::pid() const {
  return state_->pid;
}

std::string ChildProcess::last_stderr() const {
  return state_->errors->text();
}

}  // namespace torchwatch::process
