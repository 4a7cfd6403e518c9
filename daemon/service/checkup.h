#pragma once

#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>

#include "storage/base/clock.h"

namespace torchwatch::service {

/// When the database is looked at.
struct CheckupPlan {
  std::chrono::seconds period{std::chrono::days{7}};        ///< after a look that found it whole
  std::chrono::seconds again{std::chrono::days{1}};         ///< after any other
  std::chrono::milliseconds tick{std::chrono::minutes{1}};  ///< between two questions for the time
};

/// Looks at the whole database again and again (storage::inspect_all), on a thread of its own that
/// runs when no other wants to, by a connection of its own: nobody waits for it. When it was last
/// found whole stands in FILE.checked, so that restarts neither repeat a look nor put it off; what
/// is damaged is looked at with every start.
class Checkup {
 public:
  /// `clock` must outlive it.
  Checkup(std::filesystem::path file, Clock const& clock, CheckupPlan plan = {});

  Checkup(Checkup const&) = delete;
  Checkup& operator=(Checkup const&) = delete;

  /// Cuts a look short.
  ~Checkup() = default;

  /// What the last look found, with what to do about it; empty: nothing. Thread-safe.
  std::string damage() const;

 private:
  void run(std::stop_token const& stop);
  Timestamp look(std::stop_token const& stop);
  void rest(std::stop_token const& stop);

  std::filesystem::path file_;
  Clock const& clock_;
  CheckupPlan plan_;
  mutable std::mutex mutex_;
  std::condition_variable_any wake_;
  std::string damage_;   // guarded by mutex_
  std::jthread thread_;  // joined first
};

}  // namespace torchwatch::service
