#pragma once

#include <map>
#include <string>

#include <boost/asio/awaitable.hpp>

#include "storage/domain/result.h"

namespace torchwatch::github {

struct Request {
  std::string method;  ///< "GET", "POST", "PATCH"
  std::string url;     ///< absolute, "https://..."
  std::map<std::string, std::string> headers;
  std::string body;
};

struct Response {
  int status = 0;
  std::map<std::string, std::string> headers;  ///< names in lower case
  std::string body;
};

/// What github needs from the network, and no more. Any HTTP answer is a value, whatever its
/// status; an Error with code `unavailable` means that none came, and the request may or may not
/// have taken effect.
class Transport {
 public:
  virtual ~Transport() = default;
  virtual boost::asio::awaitable<Result<Response>> send(Request request) = 0;
};

}  // namespace torchwatch::github
