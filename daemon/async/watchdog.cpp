#include "daemon/async/watchdog.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include <boost/asio/steady_timer.hpp>

namespace torchwatch::async {

namespace fs = std::filesystem;
using std::chrono::steady_clock;

/// A queued handler that runs after the watchdog is destroyed finds no watch.
struct Watchdog::Watch : std::enable_shared_from_this<Watch> {
  Watch(boost::asio::any_io_executor const& executor, Limits all, process::ChildProcess& watched)
      : limits{std::move(all)},
        process{watched},
        end{steady_clock::now() + limits.time},
        timer{executor} {}

  void wait() {
    constexpr std::chrono::milliseconds pause{250};
    timer.expires_at(limits.log.empty() ? end : std::min(end, steady_clock::now() + pause));
    timer.async_wait([watch = weak_from_this()](auto problem) {
      if (auto const living = watch.lock(); living && !problem) living->look();
    });
  }

  void look() {
    if (steady_clock::now() >= end)
      complaint = "exceeded its time limit of " + std::to_string(limits.time.count()) + " s";
    else if (is_log_too_long())
      complaint = "printed more than " + std::to_string(limits.log_bytes >> 20) + " MiB";
    if (complaint.empty())
      wait();
    else
      kill();
  }

  void kill() {
    process.kill_group();
    if (is_log_too_long()) shorten_log();
  }

  bool is_log_too_long() const {
    std::error_code problem;  // nothing was printed yet
    auto const size = fs::file_size(limits.log, problem);
    return !problem && std::cmp_greater(size, limits.log_bytes);
  }

  void shorten_log() const {
    std::error_code ignored;
    fs::resize_file(limits.log, static_cast<std::uintmax_t>(limits.log_bytes), ignored);
  }

  Limits limits;
  process::ChildProcess& process;
  steady_clock::time_point end;
  boost::asio::steady_timer timer;
  std::string complaint;
};

Watchdog::Watchdog(boost::asio::any_io_executor const& executor,
                   Limits limits,
                   process::ChildProcess& process)
    : watch_{std::make_shared<Watch>(executor, std::move(limits), process)} {
  watch_->wait();
}

Watchdog::~Watchdog() = default;

std::string const& Watchdog::complaint() const {
  return watch_->complaint;
}

}  // namespace torchwatch::async
