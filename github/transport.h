#pragma once

#include <functional>
#include <memory>

#include <boost/asio/awaitable.hpp>

#include "http/client.h"
#include "storage/base/result.h"

namespace torchwatch::github {

using http::Request;
using http::Response;

/// The network functions that the client needs. An HTTP response is a value with any status. An
/// Error with code `unavailable` means that there was none, and the request may or may not have
/// taken effect.
class Transport {
 public:
  virtual ~Transport() = default;
  virtual boost::asio::awaitable<Result<Response>> send(Request request) = 0;
};

/// Opens a connection to GitHub.
using OpenTransport = std::function<std::unique_ptr<Transport>()>;

}  // namespace torchwatch::github
