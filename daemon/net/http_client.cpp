#include "daemon/net/http_client.h"

#include <regex>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>

namespace torchwatch::net {
namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;

namespace {

http::request<http::string_body> to_beast(HttpOrigin const& origin, HttpRequest const& request) {
  http::request<http::string_body> message{
      http::string_to_verb(request.method), request.target, 11};
  message.set(http::field::host, origin.host + ":" + origin.port);
  message.set(http::field::user_agent, "torchwatch");
  for (auto const& [name, value] : request.headers)
    message.set(name, value);
  message.body() = request.body;
  message.prepare_payload();
  return message;
}

asio::awaitable<HttpResponse> exchange(HttpOrigin origin,
                                       HttpRequest request,
                                       std::chrono::seconds limit) {
  auto const executor = co_await asio::this_coro::executor;
  asio::ip::tcp::resolver resolver{executor};
  auto const places =
      co_await resolver.async_resolve(origin.host, origin.port, asio::use_awaitable);
  beast::tcp_stream stream{executor};
  stream.expires_after(limit);
  co_await stream.async_connect(places, asio::use_awaitable);
  auto const message = to_beast(origin, request);
  co_await http::async_write(stream, message, asio::use_awaitable);
  beast::flat_buffer buffer;
  http::response<http::string_body> answer;
  co_await http::async_read(stream, buffer, answer, asio::use_awaitable);
  HttpResponse response;
  response.status = static_cast<int>(answer.result_int());
  for (auto const& field : answer)
    response.headers[std::string{field.name_string()}] = std::string{field.value()};
  response.body = std::move(answer.body());
  co_return response;
}

}  // namespace

Result<HttpOrigin> parse_origin(std::string const& url) {
  static std::regex const form{R"(http://([^:/]+|\[[0-9a-fA-F:]+\]):([0-9]{1,5})/?)"};
  std::smatch parts;
  if (!std::regex_match(url, parts, form)) {
    return Error{ErrorCode::invalid_argument,
                 "server: found \"" + url + "\", allowed is http://HOST:PORT"};
  }
  return HttpOrigin{parts[1], parts[2]};
}

Result<HttpResponse> ask_http(HttpOrigin const& origin,
                              HttpRequest const& request,
                              std::chrono::seconds limit) {
  asio::io_context loop{1};
  auto answer = asio::co_spawn(loop, exchange(origin, request, limit), asio::use_future);
  loop.run();
  try {
    return answer.get();
  } catch (boost::system::system_error const& problem) {
    return Error{ErrorCode::unavailable,
                 origin.host + ":" + origin.port + ": " + problem.code().message()};
  }
}

}  // namespace torchwatch::net
