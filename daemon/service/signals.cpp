#include "daemon/service/signals.h"

#include <csignal>
#include <cstdlib>
#include <string_view>
#include <utility>

#include <boost/system/error_code.hpp>
#include <pthread.h>
#include <unistd.h>

namespace torchwatch::service {

void end_at_once(int signal) {
  constexpr std::string_view text = "torchwatch: ended at once by a second signal\n";
  [[maybe_unused]] auto const written = ::write(STDERR_FILENO, text.data(), text.size());
  std::_Exit(128 + signal);
}

Signals::Signals(EndAtOnce end) : end_{std::move(end)}, signals_{loop_, SIGHUP, SIGUSR1} {
  signals_.add(SIGINT);
  signals_.add(SIGTERM);
  wait();
  thread_ = std::jthread{[this] {
    loop_.run();
  }};
  ::pthread_setname_np(thread_.native_handle(), "signals");
}

Signals::~Signals() {
  loop_.stop();
}

void Signals::deliver_to(Deliver deliver) {
  std::scoped_lock const lock{mutex_};
  deliver_ = std::move(deliver);
  if (kept_) deliver_(*kept_);
  kept_.reset();
}

void Signals::keep() {
  std::scoped_lock const lock{mutex_};
  deliver_ = nullptr;
}

void Signals::keep(SignalRequest request) {
  std::scoped_lock const lock{mutex_};
  note(request);
}

void Signals::wait() {
  signals_.async_wait([this](boost::system::error_code problem, int signal) {
    if (problem) return;  // this object is gone
    receive(signal);
    wait();
  });
}

void Signals::receive(int signal) {
  if (signal == SIGUSR1) return;
  bool const is_stop = signal != SIGHUP;
  if (is_stop && ++stops_ > 1) end_(signal);
  std::scoped_lock const lock{mutex_};
  note(is_stop ? SignalRequest::stop : SignalRequest::reload);
}

void Signals::note(SignalRequest request) {
  if (deliver_)
    deliver_(request);
  else if (kept_ != SignalRequest::stop)
    kept_ = request;
}

}  // namespace torchwatch::service
