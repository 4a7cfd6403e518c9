#include "daemon/http/http_message.h"

#include <algorithm>

#include <boost/beast/http/status.hpp>
#include <nlohmann/json.hpp>

namespace torchwatch::http {
namespace {

constexpr std::size_t most_errors = 100;

}  // namespace

HttpResponse problem(int status, std::string const& detail, std::vector<FieldError> const& errors) {
  namespace beast_http = boost::beast::http;
  auto const title =
      beast_http::obsolete_reason(beast_http::int_to_status(static_cast<unsigned>(status)));
  nlohmann::ordered_json body;
  body["type"] = "about:blank";
  body["title"] = std::string{title};
  body["status"] = status;
  body["detail"] = detail;
  for (std::size_t at = 0; at < std::min(errors.size(), most_errors); ++at)
    body["errors"].push_back({{"field", errors[at].field}, {"detail", errors[at].detail}});

  HttpResponse response;
  response.status = status;
  response.headers["content-type"] = "application/problem+json";
  response.headers["cache-control"] = "no-store";
  response.body = body.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  return response;
}

}  // namespace torchwatch::http
