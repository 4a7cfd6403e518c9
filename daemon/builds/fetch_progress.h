#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "fetch/carry_out.h"

namespace torchwatch::builds {

/// Returns "[########------------] 43% of 958 MiB, 31.0 MiB/s, 17 s left", or the known part of it,
/// in less than 80 characters. `bytes_per_s`: 0 when unknown. Pure.
std::string progress_line(fetch::FetchProgress const& progress, double bytes_per_s);

/// Reports the progress of a fetch. On a terminal it overwrites one line; otherwise it writes one
/// log line per minute.
class FetchReporter {
 public:
  explicit FetchReporter(std::string url);
  FetchReporter(FetchReporter const&) = delete;
  FetchReporter& operator=(FetchReporter const&) = delete;
  /// Erases the terminal's line.
  ~FetchReporter();

  void note(fetch::FetchProgress const& progress);

 private:
  using Clock = std::chrono::steady_clock;

  void show(fetch::FetchProgress const& progress, Clock::time_point now);
  void log(fetch::FetchProgress const& progress);

  std::string url_;
  bool is_on_terminal_;
  Clock::time_point started_ = Clock::now();
  std::optional<std::int64_t> at_start_;  // bytes that an earlier fetch had downloaded
  Clock::time_point reported_;
};

}  // namespace torchwatch::builds
