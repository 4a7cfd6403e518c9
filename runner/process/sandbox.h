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

/// What a program that is not trusted sees of its host. Everything else is not there for it: other
/// processes, their /proc entries, and, unless it is asked for, the network. Its processes all end
/// with it, whatever group or session they gave themselves, and so do files below /tmp and
/// /dev/shm. Its variables are those of the Command; HOME and TMPDIR are for the caller to set.
struct Sandbox {
  /// Directories and files that it may read, where they are; "/" for all. Those that do not exist
  /// are an error.
  std::vector<std::string> readable;
  /// Directories that it may write to.
  std::vector<std::string> writable;
  /// Directories and files that it finds empty, where they lie below something that it may read:
  /// what programs need to start as well. What does not exist is left out. Of two that lie one in
  /// the other the inner one counts, as with the lists above.
  std::vector<std::string> hidden;
  /// Devices beside /dev/null and its like.
  std::vector<std::string> devices;
  /// Symbolic links in `directory`: name and target.
  std::vector<std::pair<std::string, std::string>> links;
  /// What becomes its /tmp; empty: memory.
  std::string temporary;
  /// What may be written to /tmp, while that is memory, and to /dev/shm, each. Bytes, above 0.
  std::int64_t memory_bytes = std::int64_t{1} << 30;
  /// Where it starts; made if it is missing.
  std::string directory = "/tmp/work";
  bool has_network = false;
};

/// How a host can keep a program in a sandbox.
enum class Isolation {
  none,        ///< it cannot, or is not to
  bubblewrap,  ///< namespaces of its own, under our user, without any of its privileges
};

/// "none", "bubblewrap".
std::string_view describe(Isolation isolation);

/// The best that this host has, tried out. Fails with unavailable, and bubblewrap's own reason,
/// when that is nothing.
boost::asio::awaitable<Result<Isolation>> find_isolation(boost::asio::any_io_executor executor);

/// How the program itself ended, of a bubblewrap that ended so: 128 + n stands for a signal n that
/// ends programs unasked, but not for SIGHUP, since recipes end with 129 themselves.
ExitStatus seen_through_sandbox(ExitStatus status);

/// What runs `argv` in `sandbox`: bubblewrap and its arguments, or, with Isolation::none, `argv`.
/// Standard output ends when the programs in there have closed it, and not with the sandbox alone.
/// Programs, libraries and what they need to start are readable in every sandbox. bubblewrap ends
/// as the program does, with 128 + n after signal n; what it complains of itself begins with
/// "bwrap: ".
std::vector<std::string> sandboxed(Isolation isolation,
                                   Sandbox const& sandbox,
                                   std::vector<std::string> argv);

/// Ends sandboxes whose starters have ended without them. A bubblewrap that is killed within its
/// first millisecond leaves its other half behind, which waits for it for ever, holding what it
/// inherited.
void end_orphaned_sandboxes();

/// Devices through which programs reach GPUs, as far as this host has them.
std::vector<std::string> gpu_devices();

}  // namespace torchwatch::process
