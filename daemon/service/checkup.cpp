#include "daemon/service/checkup.h"

#include <algorithm>
#include <fstream>
#include <optional>
#include <system_error>
#include <utility>

#include <pthread.h>
#include <sched.h>
#include <spdlog/spdlog.h>

#include "storage/base/small_file.h"
#include "storage/soundness.h"

namespace torchwatch::service {

namespace fs = std::filesystem;

namespace {

fs::path note_of(fs::path file) {
  return file += ".checked";
}

/// Returns the time of the last check without errors; nothing when it is unknown or in the future.
std::optional<Timestamp> last_good_look(fs::path const& file, Timestamp now) {
  std::int64_t seconds = 0;
  if (!(std::ifstream{note_of(file)} >> seconds)) return std::nullopt;
  Timestamp const at{std::chrono::seconds{seconds}};
  return at <= now ? std::optional{at} : std::nullopt;
}

void note_good_look(fs::path const& file, Timestamp at) {
  auto const written =
      write_small_file(note_of(file), std::to_string(at.time_since_epoch().count()) + '\n');
  if (!written) spdlog::warn("look_not_noted reason=\"{}\"", written.error().message);
}

/// Runs this thread at idle priority; Linux derives its disk priority from that, too.
void run_when_idle() {
  sched_param const none{};
  ::pthread_setschedparam(::pthread_self(), SCHED_IDLE, &none);
}

}  // namespace

Checkup::Checkup(fs::path file, Clock const& clock, CheckupPlan plan)
    : file_{std::move(file)},
      clock_{clock},
      plan_{plan},
      thread_{[this](std::stop_token const& stop) {
        run(stop);
      }} {}

std::string Checkup::damage() const {
  std::scoped_lock const lock{mutex_};
  return damage_;
}

void Checkup::run(std::stop_token const& stop) {
  run_when_idle();
  auto const last = last_good_look(file_, clock_.now());
  auto next = last ? *last + plan_.period : clock_.now();
  while (!stop.stop_requested()) {
    bool const was_set_back = next - clock_.now() > std::max(plan_.period, plan_.again);
    if (clock_.now() >= next || was_set_back) next = look(stop);
    rest(stop);
  }
}

/// Checks the database, and returns the time of the next check.
Timestamp Checkup::look(std::stop_token const& stop) {
  auto const began = clock_.now();
  auto const found = storage::inspect_all(file_, stop);
  if (stop.stop_requested()) return began;
  if (found) {
    note_good_look(file_, began);
    spdlog::info(
        "store_is_whole file={} seconds={}", file_.string(), (clock_.now() - began).count());
  } else if (found.error().code == ErrorCode::corrupt) {
    std::error_code ignored;
    fs::remove(note_of(file_), ignored);
    spdlog::error("store_damaged reason=\"{}\"", found.error().message);
  } else {
    spdlog::warn("store_not_looked_at reason=\"{}\"", found.error().message);
    return began + plan_.again;
  }
  std::scoped_lock const lock{mutex_};
  damage_ = found ? "" : found.error().message;
  return began + (found ? plan_.period : plan_.again);
}

void Checkup::rest(std::stop_token const& stop) {
  std::unique_lock lock{mutex_};
  wake_.wait_for(lock, stop, plan_.tick, [] { return false; });
}

}  // namespace torchwatch::service
