#include "tests/fakes/memory/fake_runner.h"

#include <chrono>
#include <utility>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace torchwatch::fakes {
namespace asio = boost::asio;

class FakeRunners::Runner final : public measure::Runner {
 public:
  Runner(FakeRunners& all, Manner manner, std::size_t slot)
      : all_{all},
        manner_{manner},
        slot_{slot},
        ended_{all.ended},
        never_{all.executor_} {
    protocol::Hello hello;
    hello.role = "runner";
    if (manner == Manner::speaks_other) hello.protocol = 99;
    if (manner == Manner::is_odd) hello.fingerprint = {{"host", 5}};
    if (manner == Manner::ends_at_once) is_dead_ = true;
    if (manner == Manner::says_nothing || manner == Manner::stays_in_queue) return;
    lines_.push_back(protocol::encode(hello));
  }

  Runner(Runner const&) = delete;
  Runner& operator=(Runner const&) = delete;

  ~Runner() override { ended_->push_back(slot_); }

  asio::awaitable<Result<std::string>> read_line() override {
    if (is_dead_) co_return Error{ErrorCode::unavailable, "end of input"};
    if (manner_ == Manner::waits_in_queue && !is_allocated_) {
      never_.expires_after(std::chrono::milliseconds{200});
      co_await never_.async_wait(asio::use_awaitable);
      is_allocated_ = true;
    }
    if (waits_left_ > 0) {
      --waits_left_;
      never_.expires_after(std::chrono::milliseconds{20});
      co_await never_.async_wait(asio::use_awaitable);
      co_return protocol::encode(protocol::Progress{"", protocol::waiting});
    }
    if (lines_.empty() && has_measured_ && manner_ == Manner::dies_after_an_answer) {
      is_dead_ = true;
      co_return Error{ErrorCode::unavailable, "end of input"};
    }
    if (lines_.empty()) {
      never_.expires_at(asio::steady_timer::time_point::max());
      co_await never_.async_wait(asio::as_tuple(asio::use_awaitable));
      co_return Error{ErrorCode::cancelled, "cancelled"};
    }
    auto line = std::move(lines_.front());
    lines_.pop_front();
    co_return line;
  }

  asio::awaitable<Result<>> write_line(std::string line) override {
    auto const round = std::get<protocol::Round>(protocol::decode(line));
    auto& begun = all_.rounds.emplace_back();
    begun.seed = round.seed;
    begun.one_by_one = round.one_by_one;
    for (auto const& job : round.jobs)
      begun.jobs.push_back(job.id);
    if (manner_ == Manner::dies_in_round) is_dead_ = true;
    if (manner_ == Manner::talks_nonsense) lines_.emplace_back("good morning");
    if (manner_ == Manner::waits_for_its_host) waits_left_ = 10;
    if (!answers()) co_return Result<>{};
    has_measured_ = true;
    for (auto const& job : round.jobs) {
      lines_.push_back(protocol::encode(protocol::Progress{job.id, "latency", 1, 2}));
      lines_.push_back(protocol::encode(all_.answer(job)));
      if (manner_ == Manner::dies_after_an_answer) break;
    }
    co_return Result<>{};
  }

  std::string last_words() const override {
    constexpr char const* queued = "srun: job 5 queued and waiting for resources\n";
    constexpr char const* allocated = "srun: job 5 has been allocated resources\n";
    if (manner_ == Manner::stays_in_queue) return queued;
    if (manner_ == Manner::waits_in_queue)
      return is_allocated_ ? std::string{queued} + allocated : queued;
    return is_dead_ || has_ended() ? all_.last_words : "";
  }

  void close() override { is_closed_ = true; }

  bool has_ended() const override {
    bool const is_over = manner_ == Manner::ends_when_idle && has_measured_ && lines_.empty();
    return is_dead_ || is_closed_ || is_over;
  }

  asio::awaitable<bool> ends_within(std::chrono::milliseconds) override { co_return has_ended(); }

 private:
  bool answers() const {
    switch (manner_) {
      case Manner::good:
      case Manner::waits_for_its_host:
      case Manner::waits_in_queue:
      case Manner::ends_when_idle:
      case Manner::dies_after_an_answer:
        return true;
      default:
        return false;
    }
  }

  FakeRunners& all_;
  Manner manner_;
  std::size_t slot_;
  std::shared_ptr<std::vector<std::size_t>> ended_;  // lives longer than FakeRunners
  asio::steady_timer never_;
  std::deque<std::string> lines_;
  bool is_dead_ = false;
  bool is_closed_ = false;
  bool is_allocated_ = false;
  bool has_measured_ = false;
  int waits_left_ = 0;
};

measure::StartRunner FakeRunners::starter() {
  return [this](std::size_t slot) -> Result<std::unique_ptr<measure::Runner>> {
    auto manner = Manner::good;
    auto& next = manners.at(slot);
    if (!next.empty()) {
      manner = next.front();
      next.pop_front();
    }
    started.push_back(slot);
    return std::make_unique<Runner>(*this, manner, slot);
  };
}

}  // namespace torchwatch::fakes
