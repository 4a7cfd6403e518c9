#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>

namespace torchwatch::service {

/// Keeps SIGHUP and SIGUSR1, which end a program that does not handle them, from ending the
/// service, for as long as this object lives. Programs that the service starts handle both as they
/// did.
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
