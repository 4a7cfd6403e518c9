#pragma once

#include <string>
#include <utility>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include "fetch/carry_out.h"
#include "storage/domain/result.h"

namespace torchwatch::build {

/// Has torchwatch-fetch download and unpack, a process each, without our token in its environment.
/// How far it is goes to the log once a minute.
class Fetcher {
 public:
  /// `program`: torchwatch-fetch.
  Fetcher(boost::asio::any_io_executor executor, std::string program)
      : executor_{std::move(executor)},
        program_{std::move(program)} {}

  /// Errors as fetch::carry_out's; unavailable too when the program takes longer than
  /// `order.download.limit`, unpacking included, or ends without an answer. Cancelling this ends
  /// the program; what was downloaded by then is gone on from another time.
  boost::asio::awaitable<Result<fetch::Fetched>> fetch(fetch::FetchOrder order) const;

 private:
  boost::asio::any_io_executor executor_;
  std::string program_;
};

}  // namespace torchwatch::build
