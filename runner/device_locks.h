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
  std::string gpu;             ///< its UUID, or however else it is named; alike for all who mean it
  bool beside_others = false;  ///< may be measured while the other kind of device is measured on
};

/// File locks (flock) by which runners of one host, whoever started them, keep out of each other's
/// way: a GPU has one round at a time, and rounds on CPUs and rounds on GPUs do not run at once,
/// since GPUs wait for the processors that start their kernels. Rounds on CPUs may run side by
/// side, on other processors. The kernel takes back what a killed runner held.
class DeviceLocks {
 public:
  /// Locks that are given back when this goes.
  class Held;

  /// `directory` is there, and writable to all who measure.
  explicit DeviceLocks(std::string directory = default_directory());

  /// /run/lock, or where there is no such thing /tmp.
  static std::string default_directory();

  /// What is claimed, or nothing when somebody else has it; an error of the file system.
  Result<std::optional<Held>> try_take(Claim const& claim) const;

  using OnWait = std::function<void()>;

  /// Waits for what is claimed, and calls `on_wait` at once and every ten seconds meanwhile. Who
  /// has waited for `patience` is next: until then a kind of device that is at work goes on.
  boost::asio::awaitable<Result<Held>> take(
      Claim claim,
      OnWait on_wait,
      std::chrono::milliseconds patience = std::chrono::minutes{10}) const;

 private:
  std::string directory_;
};

class DeviceLocks::Held {
 public:
  Held() = default;
  Held(Held const&) = delete;
  Held& operator=(Held const&) = delete;
  Held(Held&&) noexcept;
  Held& operator=(Held&&) noexcept;
  ~Held();

  /// Another lock beside those. False when somebody else has it. `how`: LOCK_SH or LOCK_EX.
  Result<bool> add(std::string const& file, int how);

 private:
  std::vector<int> descriptors_;
};

}  // namespace torchwatch::runner
