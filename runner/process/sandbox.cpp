#include "runner/process/sandbox.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>
#include <system_error>

#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <unistd.h>

#include "runner/process/excerpt.h"

namespace torchwatch::process {

namespace asio = boost::asio;
namespace fs = std::filesystem;

namespace {

/// Paths that programs need to start: programs, libraries and their search paths, user and host
/// names, time zones. No files of users or services, and no variable state.
constexpr std::array system_paths{"/usr",
                                  "/bin",
                                  "/sbin",
                                  "/lib",
                                  "/lib32",
                                  "/lib64",
                                  "/libx32",
                                  "/opt",
                                  "/nix",
                                  "/gnu",
                                  "/sys",
                                  "/etc/alternatives",
                                  "/etc/ld.so.cache",
                                  "/etc/ld.so.conf",
                                  "/etc/ld.so.conf.d",
                                  "/etc/ld.so.preload",
                                  "/etc/localtime",
                                  "/etc/timezone",
                                  "/etc/passwd",
                                  "/etc/group",
                                  "/etc/nsswitch.conf",
                                  "/etc/hosts",
                                  "/etc/hostname",
                                  "/etc/OpenCL",
                                  "/etc/nvidia"};

/// More paths for programs with a network: name resolution and certificates.
constexpr std::array network_paths{
    "/etc/resolv.conf", "/etc/ssl", "/etc/pki", "/etc/ca-certificates", "/etc/gai.conf"};

/// Paths that root can write to even without capabilities, which would change the host.
constexpr std::array kernel_paths{"/proc/sys",
                                  "/proc/sysrq-trigger",
                                  "/proc/irq",
                                  "/proc/bus",
                                  "/proc/fs",
                                  "/proc/acpi",
                                  "/proc/scsi"};

/// The directory with the sockets of services, some of which act with root's rights.
constexpr auto sockets = "/run";

/// The processes of bubblewrap live as long as the sandbox and would keep its output open after the
/// program has closed it. So the output passes them as descriptor 3, which they close. Before that,
/// the shell makes the whole sandbox the kernel's first choice when memory runs out.
constexpr auto past_bubblewrap =
    R"(echo 1000 2>/dev/null >/proc/self/oom_score_adj; exec "$@" 3>&1 >/dev/null)";
constexpr auto back_again = R"(exec "$@" >&3 3>&-)";

using Arguments = std::vector<std::string>;

bool is_there(std::string const& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

bool is_directory(std::string const& path) {
  std::error_code ignored;
  return fs::is_directory(path, ignored);
}

std::string absolute(std::string const& path) {
  auto normal = fs::absolute(path).lexically_normal().string();
  if (normal.size() > 1 && normal.ends_with('/')) normal.pop_back();
  return normal;
}

Arguments in_memory(std::string const& path, std::int64_t bytes, char const* rights) {
  return {"--perms", rights, "--size", std::to_string(bytes), "--tmpfs", path};
}

Arguments emptied(std::string const& path) {
  if (is_directory(path)) return {"--tmpfs", path};
  return {"--ro-bind", "/dev/null", path};
}

std::string text_of(fs::path const& file) {
  std::ifstream stream{file, std::ios::binary};
  std::ostringstream text;
  // An iterator would throw when the file belongs to a process that ends meanwhile.
  text << stream.rdbuf();
  return text.str();
}

constexpr auto starter_variable = "TORCHWATCH_STARTER";
/// The argument before the starter's identity in the command line of a sandbox.
std::string const mark = std::string{starter_variable} + '\0';

/// Returns the PID namespace of this process: "pid:[4026531836]".
std::string pid_namespace() {
  std::error_code ignored;
  return fs::read_symlink("/proc/self/ns/pid", ignored).string();
}

/// Identifies a process by its number, its start time and our PID namespace:
/// "12-3456-pid:[4026531836]". The number alone can be reused, and each namespace has its own
/// numbers. Empty when the process does not exist or is a zombie. Zombies can remain in containers
/// whose init does not reap.
std::string identity_of(std::string const& pid) {
  auto const stat = text_of("/proc/" + pid + "/stat");
  // proc(5): "PID (NAME) STATE ...", where a name may contain any character. The state is the third
  // field, the start time the 22nd.
  constexpr int fields_between = 22 - 4;
  std::istringstream fields{stat.substr(std::min(stat.rfind(')') + 1, stat.size()))};
  std::string field;
  fields >> field;
  if (field == "Z" || field == "X") return "";
  for (int i = 0; i < fields_between; ++i)
    fields >> field;
  return fields >> field ? pid + '-' + field + '-' + pid_namespace() : "";
}

/// The mounts of a sandbox, sorted by path, so that a directory is mounted before its contents.
class Mounts {
 public:
  explicit Mounts(Sandbox const& sandbox) {
    add_system(sandbox);
    for (auto const& path : sandbox.readable)
      bind("--ro-bind", path);
    for (auto const& path : sandbox.writable)
      bind("--bind", path);
    for (auto const& path : sandbox.hidden)
      hide(path);
    add_own(sandbox);
  }

  Arguments arguments() const {
    Arguments all;
    for (auto const& [path, how] : mounts_)
      all.insert(all.end(), how.begin(), how.end());
    return all;
  }

 private:
  void add_system(Sandbox const& sandbox) {
    bool const has_all = std::ranges::count(sandbox.readable, "/") > 0;
    if (has_all && is_there(sockets)) mounts_[sockets] = emptied(sockets);
    // /etc/resolv.conf may be a link to it.
    if (sandbox.has_network) add_if_there("/run/systemd/resolve");
    if (has_all) return;
    for (auto const* const path : system_paths)
      add_if_there(path);
    for (auto const* const path : network_paths)
      if (sandbox.has_network) add_if_there(path);
  }

  /// Adds the mounts that belong to this sandbox alone: /proc, /dev, /dev/shm, /tmp and `placed`.
  void add_own(Sandbox const& sandbox) {
    mounts_["/proc"] = {"--proc", "/proc"};
    for (auto const* const path : kernel_paths)
      add_if_there(path);
    mounts_["/dev"] = {"--dev", "/dev"};
    for (auto const& path : sandbox.devices)
      bind("--dev-bind", path);
    mounts_["/dev/shm"] = in_memory("/dev/shm", sandbox.memory_bytes, "1777");
    mounts_["/tmp"] = sandbox.temporary.empty()
                          ? in_memory("/tmp", sandbox.memory_bytes, "1777")
                          : Arguments{"--bind", absolute(sandbox.temporary), "/tmp"};
    for (auto const& [path, place] : sandbox.placed)
      mounts_[absolute(place)] = {"--bind", absolute(path), absolute(place)};
  }

  /// Hides the real path, so that symbolic links to it cannot show it.
  void hide(std::string const& path) {
    std::error_code problem;
    auto const real = fs::canonical(path, problem).string();
    if (!problem && is_visible(real)) mounts_.try_emplace(real, emptied(real));
  }

  /// True when `path` is inside a mounted directory.
  bool is_visible(std::string const& path) const {
    return std::ranges::any_of(mounts_, [&path](auto const& mount) {
      return path.starts_with(mount.first == "/" ? mount.first : mount.first + '/');
    });
  }

  void add_if_there(std::string const& path) {
    if (is_there(path)) bind("--ro-bind", path);
  }

  void bind(std::string const& how, std::string const& path) {
    mounts_[absolute(path)] = {how, absolute(path), absolute(path)};
  }

  std::map<std::string, Arguments> mounts_;
};

void append(Arguments& all, Arguments more) {
  all.insert(all.end(), std::move_iterator{more.begin()}, std::move_iterator{more.end()});
}

/// Returns the start of a command line: a shell that runs the arguments after it as a program.
Arguments through_shell(char const* how) {
  return {"/bin/sh", "-c", how, "sh"};
}

/// Runs `true` in the default sandbox.
asio::awaitable<Result<>> try_out(asio::any_io_executor executor) {
  using namespace asio::experimental::awaitable_operators;
  constexpr std::chrono::seconds patience{10};
  Command command;
  command.argv = sandboxed(Isolation::bubblewrap, Sandbox{}, {"true"});
  auto started = ChildProcess::start(executor, std::move(command));
  if (!started) co_return started.error();
  asio::steady_timer timer{executor, patience};
  auto const ended = co_await (started->wait() || timer.async_wait(asio::use_awaitable));
  auto const* const status = std::get_if<ExitStatus>(&ended);
  if (status == nullptr) co_return Error{ErrorCode::unavailable, "bwrap hangs"};
  if (status->code == 0 && status->signal == 0) co_return Result<>{};
  auto const words = last_lines(started->last_stderr());
  co_return Error{ErrorCode::unavailable, words.empty() ? describe(*status) : words};
}

}  // namespace

std::string_view describe(Isolation isolation) {
  return isolation == Isolation::bubblewrap ? "bubblewrap" : "none";
}

ExitStatus seen_through_sandbox(ExitStatus status) {
  constexpr int signalled = 128;
  for (int const signal :
       {SIGKILL, SIGSEGV, SIGABRT, SIGBUS, SIGILL, SIGFPE, SIGTERM, SIGINT, SIGPIPE, SIGXFSZ})
    if (status.signal == 0 && status.code == signalled + signal) return {0, signal};
  return status;
}

asio::awaitable<Result<Isolation>> find_isolation(asio::any_io_executor executor) {
  auto const tried = co_await try_out(std::move(executor));
  if (tried) co_return Isolation::bubblewrap;
  co_return Error{ErrorCode::unavailable, tried.error().message, tried.error().is_of_host};
}

Arguments sandboxed(Isolation isolation, Sandbox const& sandbox, Arguments argv) {
  if (isolation == Isolation::none) return argv;
  auto all = through_shell(past_bubblewrap);
  append(all,
         {"bwrap",
          "--die-with-parent",
          "--new-session",
          "--unshare-pid",
          "--unshare-ipc",
          "--unshare-cgroup-try",
          "--cap-drop",
          "ALL"});
  if (!sandbox.has_network) all.emplace_back("--unshare-net");
  append(all, Mounts{sandbox}.arguments());
  append(all, {"--dir", sandbox.directory});
  for (auto const& [name, target] : sandbox.links)
    append(all, {"--symlink", target, sandbox.directory + '/' + name});
  // Only end_orphaned_sandboxes reads it.
  append(all, {"--setenv", starter_variable, identity_of(std::to_string(::getpid()))});
  append(all, {"--unsetenv", starter_variable});
  append(all, {"--remount-ro", "/dev", "--remount-ro", "/", "--chdir", sandbox.directory, "--"});
  append(all, through_shell(back_again));
  append(all, std::move(argv));
  return all;
}

void end_orphaned_sandboxes() {
  std::error_code ignored;
  for (auto const& entry : fs::directory_iterator{"/proc", ignored}) {
    auto const name = entry.path().filename().string();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    auto const command = text_of(entry.path() / "cmdline");
    auto const at = command.find(mark);
    if (!command.starts_with("bwrap") || at == std::string::npos) continue;
    std::string const starter{command.c_str() + at + mark.size()};
    // A host also sees the processes of its containers. Skip those of another namespace.
    if (!starter.ends_with('-' + pid_namespace())) continue;
    if (identity_of(starter.substr(0, starter.find('-'))) != starter)
      ::kill(static_cast<pid_t>(std::stol(name)), SIGKILL);
  }
}

std::vector<std::string> gpu_devices() {
  std::vector<std::string> devices;
  std::error_code ignored;
  for (auto const& entry : fs::directory_iterator{"/dev", ignored}) {
    auto const name = entry.path().filename().string();
    if (name.starts_with("nvidia") || name == "dri" || name == "kfd")
      devices.push_back(entry.path().string());
  }
  return devices;
}

}  // namespace torchwatch::process
