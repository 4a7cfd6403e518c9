#include "daemon/suite_try/slow_down.h"

#include <chrono>
#include <csignal>
#include <utility>
#include <vector>

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <sys/types.h>

namespace torchwatch::suite_try {

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace {

/// The time that processes run in a cycle; more when this process gets the CPU late.
constexpr auto run_time = 2ms;
/// The length of a stop, as a multiple of the time that they ran. Large, because stops cost nothing
/// while a process waits for the CPU of a busy host.
constexpr int stops = 7;
/// The cycles after which the processes are looked for again: there may be new ones.
constexpr int cycles_of_a_look = 16;

/// Continues all processes at the end of a scope.
class Continued {
 public:
  explicit Continued(MarkedProcesses const& processes) : processes_{processes} {}

  Continued(Continued const&) = delete;
  Continued& operator=(Continued const&) = delete;

  ~Continued() { processes_.signal(SIGCONT); }

 private:
  MarkedProcesses const& processes_;
};

void signal_all(std::vector<pid_t> const& pids, int number) {
  for (auto const pid : pids)
    ::kill(pid, number);
}

}  // namespace

asio::awaitable<void> slow_down(MarkedProcesses processes) {
  Continued const continued{processes};
  asio::steady_timer timer{co_await asio::this_coro::executor};
  std::vector<pid_t> pids;
  for (int cycle = 0;; ++cycle) {
    auto const begin = std::chrono::steady_clock::now();
    signal_all(pids, SIGCONT);
    timer.expires_after(run_time);
    co_await timer.async_wait(asio::use_awaitable);
    if (cycle % cycles_of_a_look == 0) pids = processes.find();
    signal_all(pids, SIGSTOP);
    timer.expires_after(stops * (std::chrono::steady_clock::now() - begin));
    co_await timer.async_wait(asio::use_awaitable);
  }
}

}  // namespace torchwatch::suite_try
