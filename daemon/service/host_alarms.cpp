#include "daemon/service/host_alarms.h"

#include <exception>
#include <filesystem>
#include <iterator>
#include <system_error>
#include <utility>

#include <spdlog/fmt/fmt.h>
#include <spdlog/spdlog.h>
#include <sys/resource.h>
#include <time.h>

#include "daemon/measure/alarm.h"

namespace torchwatch::service {
namespace fs = std::filesystem;

namespace {

constexpr std::int64_t mebibyte = std::int64_t{1} << 20;
/// The limit of /healthz, and a higher one at which the alarm ends.
constexpr std::int64_t least_free = 64 * mebibyte;
constexpr std::int64_t enough_free = 128 * mebibyte;
/// Shares of the descriptors, in percent.
constexpr std::int64_t many_files = 80;
constexpr std::int64_t few_files = 60;
/// Larger than corrections by NTP, and smaller than the times that the service waits for.
constexpr std::chrono::minutes longest_step{10};
constexpr std::chrono::hours alarm_of_clock{24};
constexpr int too_many_failures = 3;

Alarm alarm_about(std::string const& subject, std::string detail, Timestamp now) {
  Alarm alarm;
  alarm.kind = AlarmKind::host_degraded;
  alarm.subject = subject;
  alarm.detail = std::move(detail);
  alarm.raised_at = now;
  return alarm;
}

std::int64_t limit_of_files() {
  ::rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return 0;
  return static_cast<std::int64_t>(limit.rlim_cur);
}

/// Returns `most` when none is left, because counting them needs one.
std::int64_t count_open_files(std::int64_t most) {
  std::error_code problem;
  fs::directory_iterator files{"/proc/self/fd", problem};
  if (problem == std::errc::too_many_files_open) return most;
  std::int64_t count = 0;
  while (!problem && files != fs::directory_iterator{}) {
    ++count;
    files.increment(problem);
  }
  return count;
}

std::chrono::nanoseconds uptime() {
  ::timespec time{};
  ::clock_gettime(CLOCK_BOOTTIME, &time);
  return std::chrono::seconds{time.tv_sec} + std::chrono::nanoseconds{time.tv_nsec};
}

}  // namespace

HostReading read_host(std::string const& state_dir, std::string store_trouble, Clock const& clock) {
  HostReading reading;
  reading.clock = clock.now();
  reading.uptime = uptime();
  std::error_code problem;
  auto const space = fs::space(state_dir, problem);
  reading.free_bytes = problem ? 0 : static_cast<std::int64_t>(space.available);
  reading.store_trouble = std::move(store_trouble);
  reading.most_files = limit_of_files();
  reading.open_files = count_open_files(reading.most_files);
  return reading;
}

bool HostAlarms::check(HostReading const& now) {
  check_disk(now);
  check_descriptors(now);
  auto const step = check_clock(now);
  last_ = now;
  return step < -longest_step;
}

void HostAlarms::check_disk(HostReading const& now) {
  bool const was_wrong = is_open(AlarmKind::host_degraded, "disk");
  bool const is_full = now.free_bytes < (was_wrong ? enough_free : least_free);
  auto const detail = now.store_trouble.empty()
                          ? fmt::format("the disk of state_dir has {} MiB free, {} are needed",
                                        now.free_bytes / mebibyte,
                                        least_free / mebibyte)
                          : "nothing can be stored: " + now.store_trouble;
  set(is_full || !now.store_trouble.empty(), alarm_about("disk", detail, now.clock));
}

void HostAlarms::check_descriptors(HostReading const& now) {
  bool const was_wrong = is_open(AlarmKind::host_degraded, "descriptors");
  auto const share = was_wrong ? few_files : many_files;
  bool const are_many = now.most_files > 0 && now.open_files * 100 > now.most_files * share;
  auto const detail =
      fmt::format("{} of {} descriptors of the service are open", now.open_files, now.most_files);
  set(are_many, alarm_about("descriptors", detail, now.clock));
}

/// Returns the step of the clock since the last call.
std::chrono::seconds HostAlarms::check_clock(HostReading const& now) {
  auto const open = store_.alarms().find_open(AlarmKind::host_degraded, "clock");
  // An alarm of the future was raised before the clock was set back.
  bool const is_old = open && (now.clock - open->raised_at >= alarm_of_clock ||
                               open->raised_at > now.clock + longest_step);
  if (is_old) set(false, alarm_about("clock", "", now.clock));
  if (!last_) return {};
  auto const elapsed = std::chrono::floor<std::chrono::seconds>(now.uptime - last_->uptime);
  std::chrono::seconds const step = now.clock - last_->clock - elapsed;
  if (step <= longest_step && step >= -longest_step) return step;
  // Another alarm begins another day.
  set(false, alarm_about("clock", "", now.clock));
  auto const detail = fmt::format("the clock was set {} by {} minutes",
                                  step.count() > 0 ? "forward" : "back",
                                  std::chrono::abs(step).count() / 60);
  set(true, alarm_about("clock", detail, now.clock));
  return step;
}

void HostAlarms::note_pass(int failed, std::string const& failure, Timestamp now) {
  Alarm alarm;
  alarm.kind = AlarmKind::passes_failed;
  alarm.detail = fmt::format("the last {} passes failed: {}", failed, failure);
  alarm.raised_at = now;
  if (failed == 0 || failed >= too_many_failures) set(failed > 0, alarm);
}

bool HostAlarms::is_open(AlarmKind kind, std::string const& subject) {
  return store_.alarms().find_open(kind, subject).has_value();
}

void HostAlarms::set(bool is_wrong, Alarm const& alarm) {
  try {
    measure::set_alarm(store_, is_wrong, alarm);
  } catch (std::exception const& problem) {
    spdlog::error("alarm_not_stored kind={} subject=\"{}\" detail=\"{}\" reason=\"{}\"",
                  to_string(alarm.kind),
                  alarm.subject,
                  alarm.detail,
                  problem.what());
  }
}

}  // namespace torchwatch::service
