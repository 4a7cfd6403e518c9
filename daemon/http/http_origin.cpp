#include "daemon/http/http_origin.h"

#include <regex>
#include <utility>

#include "http/client.h"

namespace torchwatch::http {
namespace {

constexpr std::string_view unix_scheme = "unix:";

}  // namespace

Result<HttpOrigin> parse_origin(std::string const& url) {
  static std::regex const form{
      R"((https?://(?:[^:/\[\]]+|\[[0-9a-fA-F:.]+\]):[0-9]{1,5})/?|(unix:/.*))"};
  std::smatch parts;
  if (std::regex_match(url, parts, form))
    return HttpOrigin{parts[1].matched ? parts[1].str() : parts[2].str()};
  return Error{ErrorCode::invalid_argument,
               "server: found \"" + url + "\", allowed http(s)://HOST:PORT or unix:/PATH"};
}

Result<HttpResponse> ask_http(HttpOrigin const& origin,
                              HttpRequest const& request,
                              std::chrono::seconds limit) {
  bool const is_unix_socket = origin.url.starts_with(unix_scheme);
  torchwatch::http::Options options;
  options.certificate = origin.certificate;
  if (is_unix_socket) options.unix_socket = origin.url.substr(unix_scheme.size());
  options.proxy = "";
  options.limit = limit;
  auto const base = is_unix_socket ? "http://localhost" : origin.url;
  torchwatch::http::Client client;
  auto answer =
      client.send({request.method, base + request.target, request.headers, request.body}, options);
  if (!answer) return Error{ErrorCode::unavailable, within(origin.url, answer.error()).message};
  HttpResponse response;
  response.status = answer->status;
  response.headers = std::move(answer->headers);
  response.body = std::move(answer->body);
  return response;
}

}  // namespace torchwatch::http
