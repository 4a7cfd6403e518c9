#pragma once

#include <string>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/types.h>
#include <unistd.h>

#include "storage/base/result.h"

namespace torchwatch::process {

/// An open file descriptor, closed on exec. -1: none.
class Descriptor {
 public:
  Descriptor() = default;

  explicit Descriptor(int fd) : fd_{fd} {}

  Descriptor(Descriptor const&) = delete;
  Descriptor& operator=(Descriptor const&) = delete;

  Descriptor(Descriptor&& other) noexcept : fd_{other.release()} {}

  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }

  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }

  int get() const { return fd_; }

  int release() { return std::exchange(fd_, -1); }

  bool is_open() const { return fd_ >= 0; }

 private:
  int fd_ = -1;
};

/// The two ends of a pipe.
struct Pipe {
  Descriptor read;
  Descriptor write;
};

/// Opens a pipe. Fails with `unavailable` when the system is out of descriptors.
Result<Pipe> make_pipe();

/// True when `error`, an `errno`, means that the host is out of processes, descriptors or memory.
/// The same call may succeed later.
bool is_shortage(int error);

/// A program to start, with its three standard descriptors.
struct Spawn {
  std::vector<std::string> argv;         ///< not empty; argv[0] is looked up in PATH
  std::vector<std::string> environment;  ///< all variables, as "NAME=value"
  std::string directory;                 ///< empty: the current one
  std::vector<int> processors;           ///< CPUs to run on; empty: those of this process
  Descriptor input;
  Descriptor output;
  Descriptor errors;
  bool leads_group = true;  ///< false: it stays in the process group of this process
};

/// A process that was started.
struct Spawned {
  pid_t pid = -1;
  Descriptor handle;  ///< a pidfd: readable once the process has ended
};

/// Starts `program`, as the leader of a new process group unless `leads_group` is false, and
/// returns when it runs. The kernel kills it when the calling thread ends. Errors as in
/// ChildProcess::start.
Result<Spawned> spawn(Spawn const& program);

}  // namespace torchwatch::process
