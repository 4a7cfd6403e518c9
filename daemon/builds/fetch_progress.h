#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "fetch/carry_out.h"

namespace torchwatch::builds {

/// "[########------------]  43% of 958 MiB, 31.0 MiB/s, 17 s left", or what is known of it, in less
/// than 80 characters. `bytes_per_s`: 0 when that is not known yet. Pure.
std::string progress_line(fetch::FetchProgress const& progress, double bytes_per_s);

/// Tells how far a fetch is: on a terminal a line that is written over again and again, and else a
/// line in the log once a minute.
class FetchTeller {
 public:
  explicit FetchTeller(std::string url);
  FetchTeller(FetchTeller const&) = delete;
  FetchTeller& operator=(FetchTeller const&) = delete;
  /// Wipes the terminal's line.
  ~FetchTeller();

  void note(fetch::FetchProgress const& progress);

 private:
  using Clock = std::chrono::steady_clock;

  void show(fetch::FetchProgress const& progress, Clock::time_point now);
  void log(fetch::FetchProgress const& progress);

  std::string url_;
  bool is_on_terminal_;
  Clock::time_point started_ = Clock::now();
  std::optional<std::int64_t> at_start_;  // what had come another time
  Clock::time_point told_;
};

}  // namespace torchwatch::builds
