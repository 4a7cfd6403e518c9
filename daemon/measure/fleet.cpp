#include "daemon/measure/fleet.h"

#include <algorithm>
#include <string_view>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <spdlog/spdlog.h>

#include "daemon/measure/greeting.h"
#include "daemon/measure/round_replies.h"
#include "runner/process/excerpt.h"
#include "storage/domain/job.h"

namespace torchwatch::measure {
namespace asio = boost::asio;

namespace {

/// Ends a runner that was left in the middle of a round: the next round would get its replies.
class Conversation {
 public:
  explicit Conversation(std::unique_ptr<Runner>& runner) : runner_{runner} {}

  Conversation(Conversation const&) = delete;
  Conversation& operator=(Conversation const&) = delete;

  ~Conversation() {
    if (!is_over_) runner_.reset();
  }

  /// Marks the round as complete.
  void end() { is_over_ = true; }

 private:
  std::unique_ptr<Runner>& runner_;
  bool is_over_ = false;
};

/// Returns the text of the first failure with that code; empty when there is none.
std::string first_text_of(std::vector<protocol::Message> const& answers, std::string_view code) {
  for (auto const& answer : answers)
    if (auto const* const failure = std::get_if<protocol::Failure>(&answer))
      if (failure->code == code) return failure->text;
  return {};
}

}  // namespace

std::string const& Slot::fleet() const {
  return fleet_->name();
}

Slot::~Slot() {
  if (fleet_ != nullptr) fleet_->give_back(number_);
}

asio::awaitable<Slot::Replies> Slot::run(protocol::Round round, OnProgress on_progress) {
  return fleet_->run(fleet_->slots_[number_], number_, std::move(round), std::move(on_progress));
}

Fleet::Fleet(asio::any_io_executor executor,
             config::FleetOptions options,
             StartRunner start,
             FleetLimits limits)
    : executor_{std::move(executor)},
      options_{std::move(options)},
      start_{std::move(start)},
      limits_{limits},
      slots_(static_cast<std::size_t>(options_.slots)),
      queue_{executor_, 1},
      change_{executor_} {}

asio::awaitable<Result<Slot>> Fleet::slot() {
  auto const first_in_line = co_await queue_.enter();
  while (true) {
    if (auto const free = free_slot()) {
      slots_[*free].is_taken = true;
      co_return Slot{*this, *free};
    }
    if (is_out_of_service())
      co_return Error{ErrorCode::unavailable,
                      "fleet " + options_.name + " is out of service: " + last_trouble_};
    change_.expires_at(end_of_rest());
    co_await change_.async_wait(asio::as_tuple(asio::use_awaitable));
  }
}

asio::awaitable<Result<Slot>> Fleet::slot(std::size_t number) {
  constexpr std::chrono::milliseconds between_looks{100};
  if (number >= slots_.size())
    co_return Error{ErrorCode::invalid_argument,
                    "fleet " + options_.name + ": found slot " + std::to_string(number) +
                        ", allowed are 0 to " + std::to_string(slots_.size() - 1)};
  auto const& slot_state = slots_[number];
  asio::steady_timer timer{executor_};
  while (slot_state.is_taken || slot_state.rests_until > Clock::now()) {
    if (is_out_of_service(number))
      co_return Error{ErrorCode::unavailable,
                      "slot " + std::to_string(number) + " of fleet " + options_.name +
                          " is out of service: " + last_trouble_};
    timer.expires_at(std::max(slot_state.rests_until, Clock::now() + between_looks));
    co_await timer.async_wait(asio::use_awaitable);
  }
  slots_[number].is_taken = true;
  co_return Slot{*this, number};
}

void Fleet::quarantine(std::set<std::size_t> slots) {
  std::erase_if(slots, [&](std::size_t number) { return number >= slots_.size(); });
  if (slots.size() == slots_.size()) slots.clear();
  if (slots == quarantined_) return;
  quarantined_ = std::move(slots);
  change_.cancel();
}

int Fleet::quarantined_slots() const {
  return static_cast<int>(quarantined_.size());
}

int Fleet::taken_slots() const {
  return static_cast<int>(std::ranges::count(slots_, true, &SlotState::is_taken));
}

/// Returns a free slot with a runner, since a new one may have to wait for its host; otherwise the
/// one with the fewest failed starts.
std::optional<std::size_t> Fleet::free_slot() const {
  auto const now = Clock::now();
  auto const trouble_with = [](SlotState const& slot_state) {
    return std::pair{slot_state.runner == nullptr, slot_state.failed_starts};
  };
  std::optional<std::size_t> free;
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    auto const& slot_state = slots_[i];
    if (!is_for_everyone(i) || slot_state.is_taken || slot_state.rests_until > now) continue;
    if (!free || trouble_with(slot_state) < trouble_with(slots_[*free])) free = i;
  }
  return free;
}

bool Fleet::is_out_of_service() const {
  for (std::size_t i = 0; i < slots_.size(); ++i)
    if (!is_out_of_service(i)) return false;
  return true;
}

bool Fleet::is_out_of_service(std::size_t number) const {
  return slots_[number].failed_starts >= limits_.most_failed_starts;
}

/// True when slot() may give that slot: it is in use, or those in use are out of service.
bool Fleet::is_for_everyone(std::size_t number) const {
  if (!quarantined_.contains(number)) return true;
  for (std::size_t i = 0; i < slots_.size(); ++i)
    if (!quarantined_.contains(i) && !is_out_of_service(i)) return false;
  return true;
}

Fleet::Clock::time_point Fleet::end_of_rest() const {
  auto earliest = Clock::time_point::max();
  for (std::size_t i = 0; i < slots_.size(); ++i)
    if (is_for_everyone(i) && !slots_[i].is_taken)
      earliest = std::min(earliest, slots_[i].rests_until);
  return earliest;
}

void Fleet::give_back(std::size_t number) {
  slots_[number].is_taken = false;
  change_.cancel();
}

void Fleet::rest(SlotState& slot_state, Clock::duration duration) {
  slot_state.rests_until = Clock::now() + std::min<Clock::duration>(duration, limits_.longest_rest);
}

/// Call when the slot's runner did not start and a round waited for it.
void Fleet::note_failed_start(SlotState& slot_state,
                              std::string const& reason,
                              Clock::duration waited) {
  constexpr int share = 8;
  last_trouble_ = reason;
  Clock::duration duration = limits_.first_rest;
  for (int i = 0; i < slot_state.failed_starts && duration < limits_.longest_rest; ++i)
    duration *= 2;
  ++slot_state.failed_starts;
  rest(slot_state, std::max(duration, share * waited));
}

asio::awaitable<Result<>> Fleet::greet(SlotState& slot_state, std::size_t number) {
  auto started = start_(number);
  if (!started) co_return started.error();
  slot_state.runner = std::move(*started);
  auto const hello = co_await hello_of(*slot_state.runner, limits_.hello);
  if (!hello) co_return hello.error();
  auto const host = process::excerpt(hello->fingerprint.value("host", "?"));
  auto const isolation = process::excerpt(hello->fingerprint.value("isolation", "unknown"));
  if (isolation != isolation_)
    spdlog::info("isolation_found of={} host={} isolation={}", name(), host, isolation);
  isolation_ = isolation;
  co_return Result<>{};
}

/// Returns the time limit of the round, on a host that it does not share. A job whose caches must
/// be filled first runs twice.
Fleet::Clock::duration Fleet::limit_of(protocol::Round const& round) const {
  std::chrono::duration<double> limit = limits_.grace;
  for (auto const& job : round.jobs)
    limit += std::chrono::duration<double>{job.limits.timeout_s} *
             (job.caches.variables.empty() ? 1 : 2);
  return std::chrono::duration_cast<Clock::duration>(limit);
}

asio::awaitable<Slot::Replies> Fleet::run(SlotState& slot_state,
                                          std::size_t number,
                                          protocol::Round round,
                                          Slot::OnProgress on_progress) {
  RoundReplies replies{round};
  Conversation conversation{slot_state.runner};
  if (!slot_state.runner) {
    auto const begun = Clock::now();
    auto const greeted = co_await greet(slot_state, number);
    if (!greeted) {
      note_failed_start(slot_state, greeted.error().message, Clock::now() - begun);
      co_return Lost{greeted.error().message, false};
    }
    slot_state.failed_starts = 0;
  }
  auto const limit = limit_of(round);
  auto deadline = Clock::now() + limit;
  Slot::OnProgress on_sign = [&](protocol::Progress const& progress) {
    if (progress.phase == protocol::waiting) deadline = Clock::now() + limit;
    on_progress(progress);
  };
  auto line = protocol::encode(std::move(round));
  auto const written = co_await slot_state.runner->write_line(std::move(line));
  if (!written) throw_if_cancelled(written.error());
  std::string trouble = written ? "" : written.error().message;
  while (trouble.empty() && !replies.are_complete()) {
    auto const said = co_await read_line(*slot_state.runner, deadline);
    trouble = said ? replies.take(*said, on_sign) : said.error().message;
  }
  if (!trouble.empty()) {
    trouble = with_last_words("runner lost in a round: " + trouble, *slot_state.runner);
    rest(slot_state, limits_.first_rest);
    co_return Lost{trouble, true};
  }
  conversation.end();
  auto all = std::move(replies).all();
  if (auto const of_host = trouble_of_host(all); !of_host.empty()) {
    note_failed_start(slot_state, of_host, {});
    co_return Lost{of_host, false};
  }
  note_device(slot_state, trouble_of_device(all));
  co_return all;
}

/// Lets a slot rest after a problem of its device, which is likely to last: another slot should
/// measure the next round.
void Fleet::note_device(SlotState& slot_state, std::string const& trouble) {
  if (trouble.empty())
    slot_state.failed_starts = 0;
  else
    note_failed_start(slot_state, trouble, {});
}

std::string trouble_of_device(std::vector<protocol::Message> const& answers) {
  return first_text_of(answers, to_string(JobError::device));
}

std::string trouble_of_host(std::vector<protocol::Message> const& answers) {
  return first_text_of(answers, protocol::host_trouble);
}

}  // namespace torchwatch::measure
