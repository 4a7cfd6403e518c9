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

/// The times of the checks of the database.
struct CheckupPlan {
  std::chrono::seconds period{std::chrono::days{7}};        ///< after a check without errors
  std::chrono::seconds again{std::chrono::days{1}};         ///< after any other check
  std::chrono::milliseconds tick{std::chrono::minutes{1}};  ///< between two looks at the clock
};

/// Checks the whole database periodically (storage::inspect_all). Uses its own thread, which runs
/// at idle priority, and its own connection, so it delays nothing. FILE.checked has the time of the
/// last check without errors, so restarts neither repeat nor postpone a check. A damaged database
/// is checked at every start.
class Checkup {
 public:
  /// `clock` must outlive it.
  Checkup(std::filesystem::path file, Clock const& clock, CheckupPlan plan = {});

  Checkup(Checkup const&) = delete;
  Checkup& operator=(Checkup const&) = delete;

  /// Aborts a running check.
  ~Checkup() = default;

  /// Returns the error that the last check found, with what to do about it; empty: none.
  /// Thread-safe.
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
