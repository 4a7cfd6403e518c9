#include "daemon/service/pulse.h"

#include <chrono>
#include <filesystem>
#include <system_error>
#include <utility>

namespace torchwatch::service {

void Pulse::start() {
  constexpr std::chrono::seconds period{5};
  beat();
  timer_.expires_after(period);
  timer_.async_wait([this](boost::system::error_code const& cancelled) {
    if (!cancelled) start();
  });
}

void Pulse::note_pass(Timestamp at, std::string failure) {
  vitals_.failed_passes = failure.empty() ? 0 : vitals_.failed_passes + 1;
  vitals_.failure = std::move(failure);
  if (vitals_.failed_passes == 0) vitals_.last_pass = at;
  beat();
}

void Pulse::beat() {
  constexpr int between_tries = 6;  // a write to the disk, so not with every beat
  if (beats_++ % between_tries == 0) try_store();
  std::error_code problem;
  auto const space = std::filesystem::space(options_.state_dir, problem);
  vitals_.free_bytes = problem ? 0 : static_cast<std::int64_t>(space.available);
  vitals_.store_damage = checkup_.damage();
  vitals_.isolation = service_.fleets.isolation();
  vitals_.isolation["builds"] = service_.workshop.isolation_so_far();
  for (auto const& fleet : service_.fleets.all())
    vitals_.slots[fleet.name()] = {fleet.slots(), fleet.taken_slots()};
  vitals_.heartbeat = api::Vitals::Instant::clock::now();
  signs_.set(vitals_);
}

void Pulse::try_store() {
  auto const written = store_.try_to_write();
  vitals_.store_trouble = written ? "" : written.error().message;
}

}  // namespace torchwatch::service
