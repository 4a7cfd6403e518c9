#include "daemon/service/health_reporter.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <exception>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>

#include <spdlog/spdlog.h>

#include "github/markdown.h"

namespace torchwatch::service {

std::string status_line(api::HealthState const& health, api::HealthState::Instant now) {
  // systemd drops messages of 4096 bytes and more, and the sign of life with them.
  constexpr std::size_t longest_line = 1000;
  std::string line;
  for (auto const& trouble : api::troubles_of(health, now))
    line += (line.empty() ? "" : "; ") + trouble;
  std::ranges::replace(line, '\n', ' ');
  if (!line.empty()) return std::string{github::clip(line, longest_line)};
  int all = 0;
  int taken = 0;
  for (auto const& [fleet, slots] : health.slots) {
    all += slots.all;
    taken += slots.taken;
  }
  if (taken == 0) return "idle";
  return "measuring on " + std::to_string(taken) + " of " + std::to_string(all) + " slots";
}

void HealthReporter::start() {
  constexpr std::chrono::seconds period{5};
  publish();
  timer_.expires_after(period);
  timer_.async_wait([this](boost::system::error_code const& cancelled) {
    if (!cancelled) start();
  });
}

void HealthReporter::note_pass(Timestamp at, std::string failure) {
  auto const reason = failure;
  state_.failed_passes = failure.empty() ? 0 : state_.failed_passes + 1;
  state_.failure = std::move(failure);
  if (state_.failed_passes == 0) state_.last_pass = at;
  host_alarms_.note_pass(state_.failed_passes, reason, at);
  publish();
}

void HealthReporter::publish() {
  constexpr int between_tries = 6;  // a write to the disk, so not every time
  if (published_++ % between_tries == 0) check_host();
  std::error_code problem;
  auto const space = std::filesystem::space(options_.state_dir, problem);
  state_.free_bytes = problem ? 0 : static_cast<std::int64_t>(space.available);
  state_.store_damage = checkup_.damage();
  state_.isolation = service_.fleets.isolation();
  state_.isolation["builds"] = service_.workshop.isolation_so_far();
  for (auto const& fleet : service_.fleets.all())
    state_.slots[fleet.name()] = {fleet.slots(), fleet.taken_slots(), fleet.quarantined_slots()};
  state_.heartbeat = api::HealthState::Instant::clock::now();
  health_.set(state_);
  notify_manager();
}

void HealthReporter::notify_manager() {
  std::string message = is_ready_ ? "" : "READY=1\n";
  message += "WATCHDOG=1\nSTATUS=" + status_line(state_, *state_.heartbeat);
  if (manager_.send(message)) is_ready_ = true;
}

/// Messages wait for a time that is far away after the clock was set back, so they are sent now.
void HealthReporter::check_host() {
  try_store();
  auto const reading = read_host(options_.state_dir, state_.store_trouble, clock_);
  try {
    if (host_alarms_.check(reading)) service_.parts.sender.retry_now();
  } catch (std::exception const& problem) {
    spdlog::error("host_not_checked reason=\"{}\"", problem.what());
  }
}

void HealthReporter::try_store() {
  auto const written = store_.try_to_write();
  state_.store_trouble = written ? "" : written.error().message;
}

}  // namespace torchwatch::service
