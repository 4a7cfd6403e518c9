#pragma once

#include <boost/asio/awaitable.hpp>

#include "http/client.h"
#include "storage/base/result.h"

namespace torchwatch::github {

using http::Request;
using http::Response;

/// What github needs from the network, and no more. Any HTTP answer is a value, whatever its
/// status; an Error with code `unavailable` means that none came, and the request may or may not
/// have taken effect.
class Transport {
 public:
  virtual ~Transport() = default;
  virtual boost::asio::awaitable<Result<Response>> send(Request request) = 0;
};

}  // namespace torchwatch::github
