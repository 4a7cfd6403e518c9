#pragma once

#include <exception>

#include <boost/asio/error.hpp>
#include <boost/system/system_error.hpp>

namespace torchwatch::async {

/// True when a task ended because it was cancelled.
inline bool is_cancellation(std::exception_ptr const& failure) {
  try {
    std::rethrow_exception(failure);
  } catch (boost::system::system_error const& problem) {
    return problem.code() == boost::asio::error::operation_aborted;
  } catch (...) {
    return false;
  }
}

}  // namespace torchwatch::async
