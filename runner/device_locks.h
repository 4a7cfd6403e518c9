#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/awaitable.hpp>

#include "storage/base/result.h"

namespace torchwatch::runner {

/// The locks that a round needs on its host: one GPU, or the CPUs.
struct Claim {
  bool on_gpu = false;
  std::string gpu;             ///< its UUID, or another name that all runners use for this GPU
  bool beside_others = false;  ///< true: may run while a round uses the other kind of device
};

/// File locks (flock) that keep the runners of one host, of all users and services, from disturbing
/// each other. A GPU has one round at a time. CPU rounds and GPU rounds do not run at the same
/// time, because GPUs wait for the CPUs that launch their kernels. CPU rounds may run side by side,
/// on different CPUs. The kernel releases the locks of a killed runner.
class DeviceLocks {
 public:
  /// Locks that are held. The destructor releases them.
  class Held;

  /// `directory` must exist and be writable by all users who measure.
  explicit DeviceLocks(std::string directory = default_directory());

  /// Returns /run/lock, or /tmp when this process cannot write to /run/lock.
  static std::string default_directory();

  /// Takes the locks of `claim`. Nothing when another round holds one of them. Fails with
  /// `unavailable` when a lock file cannot be used.
  Result<std::optional<Held>> try_take(Claim const& claim) const;

  using OnWait = std::function<void()>;

  /// Waits for the locks of `claim`. Calls `on_wait` when it starts to wait and every ten seconds.
  /// A round that has waited for `patience` is next. Until then, rounds on the kind of device in
  /// use may start before it.
  boost::asio::awaitable<Result<Held>> take(
      Claim claim,
      OnWait on_wait,
      std::chrono::milliseconds patience = std::chrono::minutes{10}) const;

 private:
  std::string directory_;
};

/// Locks of one or more files, released by the destructor.
class DeviceLocks::Held {
 public:
  Held() = default;
  Held(Held const&) = delete;
  Held& operator=(Held const&) = delete;
  Held(Held&&) noexcept;
  Held& operator=(Held&&) noexcept;
  ~Held();

  /// Adds the lock of `file`. False when another process holds it. `how`: LOCK_SH or LOCK_EX.
  Result<bool> add(std::string const& file, int how);

 private:
  std::vector<int> descriptors_;
};

}  // namespace torchwatch::runner
