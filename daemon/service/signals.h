#pragma once

#include <functional>
#include <mutex>
#include <optional>
#include <thread>

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>

namespace torchwatch::service {

/// A request that a signal makes.
enum class SignalRequest {
  reload,  ///< SIGHUP
  stop,    ///< SIGINT, SIGTERM
};

/// Ends the program at once, after a second signal to stop. `signal`: that signal.
using EndAtOnce = std::function<void(int signal)>;

/// Ends the program with the exit status of a shell, 128 + `signal`. No destructor runs.
[[noreturn]] void end_at_once(int signal);

/// Receives the signals of the service on its own thread, "signals". So a signal is not lost while
/// one watch loop is exchanged for another, and a second signal to stop ends a blocked program.
/// SIGUSR1 does nothing. Programs that the service starts handle all signals as before.
class Signals {
 public:
  using Deliver = std::function<void(SignalRequest)>;

  explicit Signals(EndAtOnce end = end_at_once);
  Signals(Signals const&) = delete;
  Signals& operator=(Signals const&) = delete;
  ~Signals();

  /// Calls `deliver` for the request that was kept, and for each later one: on the calling thread,
  /// and on the thread of signals. It must not call this object.
  void deliver_to(Deliver deliver);

  /// Keeps requests for the next deliver_to() from now on. A request to stop replaces one to
  /// reload. When this returns, no call of `deliver` is running.
  void keep();

  /// Keeps a request that was delivered and could not be carried out. Call it after keep().
  void keep(SignalRequest request);

 private:
  void wait();
  void receive(int signal);
  void note(SignalRequest request);

  EndAtOnce end_;
  int stops_ = 0;  // used only on the thread of signals
  std::mutex mutex_;
  Deliver deliver_;                    // guarded by mutex_
  std::optional<SignalRequest> kept_;  // guarded by mutex_
  boost::asio::io_context loop_{1};
  boost::asio::signal_set signals_;
  std::jthread thread_;  // joined first
};

}  // namespace torchwatch::service
