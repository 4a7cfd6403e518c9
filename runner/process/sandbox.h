#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include "runner/process/child_process.h"
#include "storage/base/result.h"

namespace torchwatch::process {

/// The view of the host that an untrusted program gets. It cannot see other processes or their
/// /proc entries, and has no network unless `has_network`. All its processes end with it, in any
/// group or session. Its files below /tmp and /dev/shm are removed. Its variables are those of the
/// Command; the caller sets HOME and TMPDIR.
struct Sandbox {
  /// Directories and files that it may read, under their own paths; "/" for all. A path that does
  /// not exist is an error.
  std::vector<std::string> readable;
  /// Directories that it may write to.
  std::vector<std::string> writable;
  /// Directories and files that appear empty, when they are inside a readable path, including the
  /// paths that programs need to start. Paths that do not exist are ignored. When a path contains
  /// another one, of this list or those above, the rule of the inner path applies to it.
  std::vector<std::string> hidden;
  /// Directories that it may write to under another path: path on the host, path in the sandbox.
  std::vector<std::pair<std::string, std::string>> placed;
  /// Devices in addition to /dev/null and similar ones.
  std::vector<std::string> devices;
  /// Symbolic links in `directory`: name and target.
  std::vector<std::pair<std::string, std::string>> links;
  /// Directory that is mounted as its /tmp; empty: /tmp is in memory.
  std::string temporary;
  /// Size of /dev/shm, and of /tmp when that is in memory, each in bytes; above 0.
  std::int64_t memory_bytes = std::int64_t{1} << 30;
  /// Directory in which it starts; created if missing.
  std::string directory = "/tmp/work";
  bool has_network = false;
};

/// The ways to keep a program in a sandbox.
enum class Isolation {
  none,        ///< no sandbox
  bubblewrap,  ///< separate namespaces, under the same user, without privileges
};

/// Returns "none" or "bubblewrap".
std::string_view describe(Isolation isolation);

/// Tries bubblewrap and returns the isolation that works on this host. Fails with `unavailable` and
/// bubblewrap's own reason when it does not work.
boost::asio::awaitable<Result<Isolation>> find_isolation(boost::asio::any_io_executor executor);

/// Returns the exit status of the program in a bubblewrap that ended with `status`. 128 + n becomes
/// signal n, for signals that usually kill programs. SIGHUP is not among them, because recipes exit
/// with 129 themselves.
ExitStatus seen_through_sandbox(ExitStatus status);

/// Returns the command line that runs `argv` in `sandbox`: bubblewrap and its arguments, or, with
/// Isolation::none, `argv`. Standard output ends as soon as all programs in the sandbox have closed
/// it, even if the sandbox still runs. Programs, libraries and the files they need to start are
/// readable in every sandbox. bubblewrap ends with the program's exit status, or 128 + n after
/// signal n. Its own error messages begin with "bwrap: ".
std::vector<std::string> sandboxed(Isolation isolation,
                                   Sandbox const& sandbox,
                                   std::vector<std::string> argv);

/// Ends sandboxes whose starter process has ended. A bubblewrap that is killed within its first
/// millisecond leaves its second process behind, which waits forever with the descriptors that it
/// inherited.
void end_orphaned_sandboxes();

/// Returns the device files of this host through which programs reach GPUs.
std::vector<std::string> gpu_devices();

}  // namespace torchwatch::process
