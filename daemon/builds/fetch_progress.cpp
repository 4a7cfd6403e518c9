#include "daemon/builds/fetch_progress.h"

#include <algorithm>
#include <iostream>
#include <utility>

#include <spdlog/fmt/fmt.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

namespace torchwatch::builds {
namespace {

using Phase = fetch::FetchProgress::Phase;

constexpr double mib_bytes = 1 << 20;

std::string bar_of(double share) {
  constexpr int width = 20;
  auto const full = static_cast<int>(share * width);
  return fmt::format("[{:#<{}}{:-<{}}]", "", full, "", width - full);
}

}  // namespace

std::string progress_line(fetch::FetchProgress const& progress, double bytes_per_s) {
  auto const bytes = static_cast<double>(progress.bytes);
  if (progress.phase != Phase::downloading)
    return fmt::format("unpacked {:.0f} MiB", bytes / mib_bytes);
  auto const speed =
      bytes_per_s > 0 ? fmt::format(", {:.1f} MiB/s", bytes_per_s / mib_bytes) : std::string{};
  if (!progress.of || *progress.of <= 0)
    return fmt::format("downloaded {:.0f} MiB{}", bytes / mib_bytes, speed);
  auto const of = static_cast<double>(*progress.of);
  auto const share = std::clamp(bytes / of, 0.0, 1.0);
  auto const left = bytes_per_s > 0
                        ? fmt::format(", {:.0f} s left", std::max(of - bytes, 0.0) / bytes_per_s)
                        : "";
  return fmt::format(
      "{} {:3.0f}% of {:.0f} MiB{}{}", bar_of(share), 100 * share, of / mib_bytes, speed, left);
}

FetchReporter::FetchReporter(std::string url)
    : url_{std::move(url)},
      is_on_terminal_{::isatty(STDERR_FILENO) == 1},
      reported_{started_} {}

FetchReporter::~FetchReporter() {
  if (is_on_terminal_) std::cerr << "\033[K" << std::flush;
}

void FetchReporter::note(fetch::FetchProgress const& progress) {
  auto const pause = is_on_terminal_ ? std::chrono::milliseconds{200} : std::chrono::minutes{1};
  if (!at_start_) at_start_ = progress.bytes;
  auto const now = Clock::now();
  if (now < reported_ + pause) return;
  reported_ = now;
  if (is_on_terminal_)
    show(progress, now);
  else
    log(progress);
}

/// The cursor returns to the start of the line, so that the next log line overwrites it.
void FetchReporter::show(fetch::FetchProgress const& progress, Clock::time_point now) {
  std::chrono::duration<double> const seconds = now - started_;
  auto const came = static_cast<double>(progress.bytes - *at_start_);
  std::cerr << "\033[K" << progress_line(progress, came / seconds.count()) << '\r' << std::flush;
}

void FetchReporter::log(fetch::FetchProgress const& progress) {
  spdlog::info("fetch_progress url={} phase={} bytes={} of={}",
               url_,
               progress.phase == Phase::downloading ? "download" : "unpack",
               progress.bytes,
               progress.of ? std::to_string(*progress.of) : "?");
}

}  // namespace torchwatch::builds
