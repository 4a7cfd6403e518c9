#include "daemon/service/ignored_signals.h"

#include <csignal>

#include <boost/system/error_code.hpp>
#include <spdlog/spdlog.h>

namespace torchwatch::service {

IgnoredSignals::IgnoredSignals(boost::asio::io_context& loop) : signals_{loop, SIGHUP, SIGUSR1} {
  wait();
}

void IgnoredSignals::wait() {
  signals_.async_wait([this](boost::system::error_code problem, int signal) {
    if (problem) return;  // this object is gone
    if (signal == SIGHUP)
      spdlog::warn(
          "signal_ignored signal=SIGHUP reason=\"reloading is not supported yet: restart the "
          "service to use a changed configuration\"");
    wait();
  });
}

}  // namespace torchwatch::service
