#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>

namespace torchwatch::service {

/// Keeps SIGHUP and SIGUSR1 from ending the service while this object exists. Programs that the
/// service starts handle both as before.
class IgnoredSignals {
 public:
  /// SIGHUP is logged while `loop` runs. `loop` must outlive it.
  explicit IgnoredSignals(boost::asio::io_context& loop);

  IgnoredSignals(IgnoredSignals const&) = delete;
  IgnoredSignals& operator=(IgnoredSignals const&) = delete;
  ~IgnoredSignals() = default;

 private:
  void wait();

  boost::asio::signal_set signals_;
};

}  // namespace torchwatch::service
