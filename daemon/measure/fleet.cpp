#include "daemon/measure/fleet.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/system/system_error.hpp>
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

/// Counts the coroutines in a scope.
class Counted {
 public:
  explicit Counted(int& count) : count_{count} { ++count_; }

  Counted(Counted const&) = delete;
  Counted& operator=(Counted const&) = delete;

  ~Counted() { --count_; }

 private:
  int& count_;
};

/// Ends a runner that is no longer needed, without blocking the loop.
asio::awaitable<void> end_quietly(std::unique_ptr<Runner> runner) {
  constexpr std::chrono::seconds time_to_end{10};
  runner->close();
  co_await runner->ends_within(time_to_end);
}

/// True when the round itself may have ended the runner. A time limit is reached by the rounds
/// together, unless the first one alone takes too long.
bool may_be_by_round(LauncherEnd end, int rounds_before) {
  switch (end) {
    case LauncherEnd::unknown:
    case LauncherEnd::out_of_memory:
      return true;
    case LauncherEnd::time_limit:
      return rounds_before == 0;
    case LauncherEnd::preempted:
    case LauncherEnd::requeued:
    case LauncherEnd::node_failed:
    case LauncherEnd::cancelled:
    case LauncherEnd::controller_lost:
    case LauncherEnd::refused:
      return false;
  }
  return true;
}

Lost lost_to(LauncherEnd end, std::string const& trouble) {
  Lost lost;
  lost.end = end;
  lost.reason = end == LauncherEnd::unknown ? trouble : std::string{describe(end)} + ": " + trouble;
  return lost;
}

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
  return fleet_->run(*this, std::move(round), std::move(on_progress));
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
      change_{executor_},
      ready_{executor_, Clock::time_point::max()},
      idle_{executor_} {}

/// Closes all runners first, so that they end side by side.
Fleet::~Fleet() {
  for (auto& slot_state : slots_)
    if (slot_state.runner) slot_state.runner->close();
}

asio::awaitable<Result<Slot>> Fleet::slot() {
  Counted const caller{callers_};
  auto const first_in_line = co_await queue_.enter();
  while (true) {
    if (auto const free = free_slot()) {
      slots_[*free].is_taken = true;
      ready_.cancel();  // this was perhaps the last caller, and more slots are free
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
  constexpr bool may_change = false;
  co_return Slot{*this, number, may_change};
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

/// Returns a free slot whose runner waits for a round.
std::optional<std::size_t> Fleet::ready_slot() const {
  auto const free = free_slot();
  if (!free) return std::nullopt;
  auto const& runner = slots_[*free].runner;
  return runner && !runner->has_ended() ? free : std::nullopt;
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
  slots_[number].unused_since = Clock::now();
  change_.cancel();
  ready_.cancel();
  watch_unused_slots();
}

std::chrono::milliseconds Fleet::idle_limit() const {
  return limits_.idle.value_or(options_.idle);
}

/// Arms the timer for the slot that is unused for longest. Until it fires, later slots need none.
void Fleet::watch_unused_slots() {
  if (watches_unused_slots_ || idle_limit() == std::chrono::milliseconds::zero()) return;
  auto first = Clock::time_point::max();
  for (auto const& slot_state : slots_)
    if (!slot_state.is_taken && slot_state.runner) first = std::min(first, slot_state.unused_since);
  if (first == Clock::time_point::max()) return;
  watches_unused_slots_ = true;
  idle_.expires_at(first + idle_limit());
  idle_.async_wait(
      [this, fleet = std::weak_ptr{is_alive_}](boost::system::error_code const& problem) {
        if (problem || fleet.expired()) return;
        watches_unused_slots_ = false;
        end_unused_runners();
        watch_unused_slots();
      });
}

void Fleet::end_unused_runners() {
  auto const unused_since = Clock::now() - idle_limit();
  for (std::size_t number = 0; number < slots_.size(); ++number) {
    auto& slot_state = slots_[number];
    if (slot_state.is_taken || !slot_state.runner) continue;
    if (slot_state.unused_since > unused_since) continue;
    spdlog::info("runner_idle slot=\"{}: slot {}\"", name(), number);
    retire(std::move(slot_state.runner));
  }
}

void Fleet::retire(std::unique_ptr<Runner> runner) {
  asio::co_spawn(executor_, end_quietly(std::move(runner)), asio::detached);
}

/// Removes a runner that ended between two rounds, for example at its time limit: nothing is lost.
void Fleet::forget_if_ended(std::size_t number) {
  auto& runner = slots_[number].runner;
  if (!runner || !runner->has_ended()) return;
  spdlog::info("runner_ended slot=\"{}: slot {}\" end={}",
               name(),
               number,
               to_string(launcher_end(runner->last_words())));
  runner.reset();
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

void Fleet::note_hello(protocol::Hello const& hello) {
  auto const host = process::excerpt(hello.fingerprint.value("host", "?"));
  auto const isolation = process::excerpt(hello.fingerprint.value("isolation", "unknown"));
  if (isolation != isolation_)
    spdlog::info("isolation_found of={} host={} isolation={}", name(), host, isolation);
  isolation_ = isolation;
}

/// Starts a runner for the slot, or moves the slot to a ready one. Returns nothing then.
asio::awaitable<std::optional<Lost>> Fleet::greet(Slot& slot) {
  using namespace asio::experimental::awaitable_operators;
  auto& slot_state = slots_[slot.number()];
  auto started = start_(slot.number());
  if (!started) co_return lost_to(LauncherEnd::unknown, started.error().message);
  slot_state.runner = std::move(*started);
  slot_state.rounds = 0;
  Conversation conversation{slot_state.runner};
  GreetingLimits const limits{limits_.hello, limits_.queue.value_or(options_.queue)};
  bool is_queued = false;
  OnQueued const on_queued = [&] {
    spdlog::info("runner_queued slot=\"{}: slot {}\"", name(), slot.number());
    is_queued = slot.may_change_;
    ready_.cancel();
  };
  std::optional<Slot> other;
  auto const greeted = co_await (hello_of(*slot_state.runner, limits, on_queued) ||
                                 take_ready_slot(is_queued, other));
  auto const* const hello = std::get_if<Result<protocol::Hello>>(&greeted);
  if (hello == nullptr) {
    if (!other) throw boost::system::system_error{asio::error::operation_aborted};
    move_round(slot, *other);
    co_return std::nullopt;
  }
  if (!*hello)
    co_return lost_to(launcher_end(slot_state.runner->last_words()), hello->error().message);
  note_hello(**hello);
  slot_state.failed_starts = 0;
  conversation.end();
  co_return std::nullopt;
}

/// Waits for a ready slot that no caller of slot() needs, while `is_wanted`, and takes it. Takes
/// none when cancelled, and does not throw: two exceptions at once would not look like a
/// cancellation.
asio::awaitable<void> Fleet::take_ready_slot(bool const& is_wanted, std::optional<Slot>& taken) {
  while (!taken) {
    auto const number = is_wanted && callers_ == 0 ? ready_slot() : std::nullopt;
    if (number) {
      slots_[*number].is_taken = true;
      taken.emplace(*this, *number);
    } else {
      co_await ready_.async_wait(asio::as_tuple(asio::use_awaitable));
      auto const state = co_await asio::this_coro::cancellation_state;
      if (state.cancelled() != asio::cancellation_type::none) co_return;
    }
  }
}

/// Withdraws the request of the slot's launcher, and exchanges the two slots.
void Fleet::move_round(Slot& slot, Slot& other) {
  spdlog::info("round_moved fleet={} from={} to={}", name(), slot.number(), other.number());
  retire(std::move(slots_[slot.number()].runner));
  std::swap(slot.number_, other.number_);
}

/// Does nothing when the slot has a runner.
asio::awaitable<std::optional<Lost>> Fleet::start(Slot& slot) {
  forget_if_ended(slot.number());
  if (slots_[slot.number()].runner) co_return std::nullopt;
  auto const begun = Clock::now();
  auto lost = co_await greet(slot);
  if (lost) {
    bool const is_explained = lost->end != LauncherEnd::unknown;
    auto const waited = is_explained ? Clock::duration::zero() : Clock::now() - begun;
    note_failed_start(slots_[slot.number()], lost->reason, waited);
  }
  co_return lost;
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

asio::awaitable<Slot::Replies> Fleet::run(Slot& slot,
                                          protocol::Round round,
                                          Slot::OnProgress on_progress) {
  auto lost = co_await start(slot);
  if (lost) co_return std::move(*lost);
  auto& slot_state = slots_[slot.number()];
  auto replies = co_await measure(slot_state, std::move(round), std::move(on_progress));
  co_return replies;
}

asio::awaitable<Slot::Replies> Fleet::measure(SlotState& slot_state,
                                              protocol::Round round,
                                              Slot::OnProgress on_progress) {
  RoundReplies replies{round};
  Conversation conversation{slot_state.runner};
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
    trouble = "runner lost in a round: " + trouble;
    trouble = co_await with_final_words(std::move(trouble), *slot_state.runner);
    rest(slot_state, limits_.first_rest);
    auto lost = lost_to(launcher_end(slot_state.runner->last_words()), trouble);
    lost.may_be_by_round = may_be_by_round(lost.end, slot_state.rounds);
    co_return lost;
  }
  conversation.end();
  ++slot_state.rounds;
  auto all = std::move(replies).all();
  if (auto const of_host = trouble_of_host(all); !of_host.empty()) {
    note_failed_start(slot_state, of_host, {});
    co_return lost_to(LauncherEnd::unknown, of_host);
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
