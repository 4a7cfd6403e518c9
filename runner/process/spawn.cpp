#include "runner/process/spawn.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <system_error>

#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

namespace torchwatch::process {

namespace {

enum class Step { prepare, directory, program };

/// The failure that the child writes to the report pipe when it could not start the program.
struct Report {
  Step step;
  int error;
};

/// All data that the child uses between fork and exec. Only async-signal-safe calls are allowed
/// there, because another thread may have held the allocator's lock during the fork.
struct Plan {
  std::vector<char*> argv;
  std::vector<char*> environment;
  char const* directory;  ///< nullptr: the current one
  std::array<int, 3> standard;
  cpu_set_t processors;  ///< empty: those of this process
  int report;
  pid_t parent;
  bool leads_group;
};

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (auto& text : texts)
    pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

[[noreturn]] void give_up(Plan const& plan, Step step) {
  Report const report{step, errno};
  [[maybe_unused]] auto const written = ::write(plan.report, &report, sizeof report);
  ::_exit(127);
}

void reset_signals() {
  // This fails for SIGKILL, SIGSTOP and the two signals that libc reserves, which does no harm.
  for (int signal = 1; signal < NSIG; ++signal)
    ::signal(signal, SIG_DFL);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

[[noreturn]] void become(Plan const& plan) {
  if (plan.leads_group && ::setpgid(0, 0) != 0) give_up(plan, Step::prepare);
  if (::prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) give_up(plan, Step::prepare);
  // The parent may have died before we asked to die with it.
  if (::getppid() != plan.parent) ::_exit(127);
  for (int fd = 0; fd < 3; ++fd) {
    if (::dup2(plan.standard[static_cast<std::size_t>(fd)], fd) < 0) give_up(plan, Step::prepare);
  }
  // If the kernel is too old for this, descriptors opened with O_CLOEXEC are still closed.
  ::close_range(3, ~0U, CLOSE_RANGE_CLOEXEC);
  if (CPU_COUNT(&plan.processors) > 0 &&
      ::sched_setaffinity(0, sizeof plan.processors, &plan.processors) != 0)
    give_up(plan, Step::prepare);
  if (plan.directory != nullptr && ::chdir(plan.directory) != 0) give_up(plan, Step::directory);
  reset_signals();
  ::execvpe(plan.argv[0], plan.argv.data(), plan.environment.data());
  give_up(plan, Step::program);
}

cpu_set_t set_of(std::vector<int> const& processors) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (int const processor : processors)
    CPU_SET(static_cast<std::size_t>(processor), &set);
  return set;
}

/// Forks with all signals blocked, so that no handler of ours runs in the child before they are
/// reset.
pid_t fork_quietly(Plan const& plan) {
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  pid_t const child = ::fork();
  if (child == 0) become(plan);
  int const error = errno;
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  errno = error;
  return child;
}

/// True when the child reported a failure; false when exec succeeded, which closed the pipe.
bool read_report(int fd, Report& report) {
  ssize_t size = 0;
  do {
    size = ::read(fd, &report, sizeof report);
  } while (size < 0 && errno == EINTR);
  return size == ssize_t{sizeof report};
}

ErrorCode code_of(int error) {
  if (is_shortage(error)) return ErrorCode::unavailable;
  switch (error) {
    case ENOENT:
    case ENOTDIR:
      return ErrorCode::not_found;
    case EACCES:
    case EPERM:
    case ENOEXEC:
      return ErrorCode::refused;
    default:
      return ErrorCode::internal;
  }
}

Error error_of(Spawn const& program, Report const& report) {
  std::string what = "start " + program.argv.front();
  if (report.step == Step::directory) what += " in " + program.directory;
  if (report.step == Step::prepare) what += " (preparing)";
  return {code_of(report.error),
          what + ": " + std::generic_category().message(report.error),
          is_shortage(report.error)};
}

}  // namespace

bool is_shortage(int error) {
  return error == EAGAIN || error == ENOMEM || error == EMFILE || error == ENFILE;
}

Result<Pipe> make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    int const error = errno;
    return Error{code_of(error),
                 "open a pipe: " + std::generic_category().message(error),
                 is_shortage(error)};
  }
  return Pipe{Descriptor{ends[0]}, Descriptor{ends[1]}};
}

Result<Spawned> spawn(Spawn const& program) {
  auto report_pipe = make_pipe();
  if (!report_pipe) return report_pipe.error();

  auto argv = program.argv;
  auto environment = program.environment;
  Plan const plan{pointers_to(argv),
                  pointers_to(environment),
                  program.directory.empty() ? nullptr : program.directory.c_str(),
                  {program.input.get(), program.output.get(), program.errors.get()},
                  set_of(program.processors),
                  report_pipe->write.get(),
                  ::getpid(),
                  program.leads_group};
  pid_t const child = fork_quietly(plan);
  if (child < 0) return error_of(program, Report{Step::prepare, errno});

  report_pipe->write = Descriptor{};
  Report report{};
  if (!read_report(report_pipe->read.get(), report)) {
    // Not pidfd_open: glibc 2.36 forgets to declare it as C.
    Descriptor handle{static_cast<int>(::syscall(SYS_pidfd_open, child, 0))};
    if (handle.is_open()) return Spawned{child, std::move(handle)};
    report = {Step::prepare, errno};
    ::kill(program.leads_group ? -child : child, SIGKILL);
  }
  ::waitpid(child, nullptr, 0);
  return error_of(program, report);
}

}  // namespace torchwatch::process
