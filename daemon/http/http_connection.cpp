#include "daemon/http/http_connection.h"

#include <array>
#include <chrono>
#include <exception>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include <boost/algorithm/string/case_conv.hpp>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/http.hpp>
#include <fmt/chrono.h>

#include "daemon/http/socket.h"

namespace torchwatch::http {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace beast_http = beast::http;
namespace ssl = asio::ssl;
namespace this_coro = asio::this_coro;
using boost::system::error_code;

constexpr auto as_tuple = asio::as_tuple(asio::use_awaitable);

/// The time in which a client may go on sending after the last response. If the server closed the
/// connection at once, the client could lose the response.
constexpr std::chrono::seconds linger{1};
/// The part of the body that one read may return after the header.
constexpr std::size_t read_ahead_bytes = 64 * 1024;
/// A GET may have this share of `body_bytes`. Its body is not used.
constexpr std::uint64_t share_of_get = 16;

using Parser = beast_http::request_parser<beast_http::string_body>;

/// Returns a request without its body.
HttpRequest head_of(Parser::value_type const& message) {
  HttpRequest request;
  auto const method = message.method_string();
  request.method = message.method() == beast_http::verb::head ? "GET" : std::string{method};
  request.target = std::string{message.target()};
  for (auto const& field : message) {
    auto& value = request.headers[boost::to_lower_copy(std::string{field.name_string()})];
    if (!value.empty()) value += ", ";
    value += std::string{field.value()};
  }
  return request;
}

/// Returns the response to an invalid request; nothing if the client does not wait for one.
std::optional<HttpResponse> refusal_of(error_code const& code, HttpServerOptions const& options) {
  if (code == beast_http::error::end_of_stream || code == beast_http::error::partial_message)
    return std::nullopt;
  if (code == beast_http::error::header_limit || code == beast_http::error::buffer_overflow) {
    return problem(431,
                   "request line and header: found more than " +
                       std::to_string(options.header_bytes) + " bytes, allowed " +
                       std::to_string(options.header_bytes));
  }
  if (code == beast_http::error::body_limit) {
    return problem(413,
                   "body: found more than " + std::to_string(options.body_bytes) +
                       " bytes, allowed " + std::to_string(options.body_bytes));
  }
  if (code.category() == beast_http::make_error_code(beast_http::error::bad_method).category())
    return problem(400, "request: found " + code.message() + ", allowed HTTP/1.1");
  return std::nullopt;
}

/// Returns the response to a well-formed header that is not allowed; nothing if it is.
std::optional<HttpResponse> check_header(Parser::value_type const& header) {
  // With a coding that is not decoded here, the body would be read as the next request.
  if (header.count(beast_http::field::transfer_encoding) > 0 &&
      !beast::iequals(header[beast_http::field::transfer_encoding], "chunked"))
    return problem(501,
                   "Transfer-Encoding: found \"" +
                       std::string{header[beast_http::field::transfer_encoding]}.substr(0, 60) +
                       "\", allowed chunked");
  if (header.version() >= 11 && header.count(beast_http::field::host) != 1)
    return problem(400,
                   "Host: found " + std::to_string(header.count(beast_http::field::host)) +
                       " fields, allowed exactly one");
  return std::nullopt;
}

/// Lets any signal end a connection that receives a request or listens without end. One that sends
/// a response is ended by a terminal signal only.
asio::cancellation_type at_any_signal(asio::cancellation_type kind) {
  using enum asio::cancellation_type;
  return kind == none ? none : terminal;
}

}  // namespace

std::string describe(std::exception_ptr const& failure) {
  try {
    std::rethrow_exception(failure);
  } catch (std::exception const& problem) {
    return problem.what();
  } catch (...) {
    return "an exception of unknown type";
  }
}

template <class Stream>
HttpConnection<Stream>::HttpConnection(Stream stream,
                                       ServerContext& context,
                                       TakeListenersPlace take_listeners_place)
    : stream_{std::move(stream)},
      buffer_{context.options.header_bytes + read_ahead_bytes},
      context_{context},
      take_listeners_place_{std::move(take_listeners_place)} {}

template <class Stream>
asio::awaitable<void> HttpConnection<Stream>::serve() {
  co_await this_coro::reset_cancellation_state(at_any_signal);
  bool const is_greeted = co_await greet();
  if (!is_greeted) co_return;
  auto next = Next::request;
  while (next == Next::request)
    next = co_await converse();
  if (next == Next::hang_up) co_await hang_up();
}

template <class Stream>
auto HttpConnection<Stream>::converse() -> asio::awaitable<Next> {
  co_await this_coro::reset_cancellation_state(at_any_signal);
  auto incoming = co_await receive();
  co_await this_coro::reset_cancellation_state(asio::enable_terminal_cancellation());
  if (!incoming.request && !incoming.refusal) co_return Next::nothing;
  HttpResponse response;
  if (incoming.request)
    response = co_await answer(std::move(*incoming.request));
  else
    response = std::move(*incoming.refusal);
  bool const is_last = static_cast<bool>(response.more);  // also if the listener is refused
  if (is_last && !is_head_ && !context_.stopping) response = admitted(std::move(response));
  bool const again = incoming.is_read && keep_alive_ && !context_.stopping && !is_last;
  bool const taken = co_await send(response, again);
  if (!taken) co_return Next::nothing;
  if (again) co_return Next::request;
  if (!response.more || is_head_ || context_.stopping) co_return Next::hang_up;
  co_await this_coro::reset_cancellation_state(at_any_signal);
  co_await send_more(response);
  co_return Next::nothing;
}

template <class Stream>
asio::awaitable<bool> HttpConnection<Stream>::greet() {
  if constexpr (is_tls) {
    line().expires_after(context_.options.handshake_timeout);
    auto const [failed] = co_await stream_.async_handshake(ssl::stream_base::server, as_tuple);
    co_return !failed;
  }
  co_return true;
}

template <class Stream>
asio::awaitable<void> HttpConnection<Stream>::refuse() {
  auto const& options = context_.options;
  auto response = problem(503,
                          "connections: found too many, allowed " +
                              std::to_string(options.connections_of_peer) + " of one client, " +
                              std::to_string(options.connections) + " in all; retry in 1 s");
  response.headers["retry-after"] = "1";
  bool const taken = co_await send(response, false);
  if (taken) co_await hang_up();
}

template <class Stream>
auto HttpConnection<Stream>::receive() -> asio::awaitable<Incoming> {
  Parser parser;
  parser.header_limit(context_.options.header_bytes);
  parser.body_limit(context_.options.body_bytes);
  line().expires_after(context_.options.read_timeout);
  Incoming incoming;

  auto const [bad_header, header_size] =
      co_await beast_http::async_read_header(stream_, buffer_, parser, as_tuple);
  auto const& header = parser.get();
  version_ = header.version() == 10 ? 10 : 11;
  is_head_ = header.method() == beast_http::verb::head;
  keep_alive_ = !bad_header && parser.keep_alive();
  incoming.refusal = bad_header ? refusal_of(bad_header, context_.options) : check_header(header);
  if (bad_header || incoming.refusal) co_return incoming;
  auto head = head_of(header);
  incoming.refusal = context_.options.precheck(head);
  incoming.is_read = parser.is_done();
  if (incoming.refusal) co_return incoming;

  if (header.method() == beast_http::verb::get || is_head_)
    parser.body_limit(context_.options.body_bytes / share_of_get);
  if (version_ == 11 && beast::iequals(header[beast_http::field::expect], "100-continue")) {
    constexpr std::string_view go_on = "HTTP/1.1 100 Continue\r\n\r\n";
    auto const line = asio::buffer(go_on);
    [[maybe_unused]] auto const [lost, size] =
        co_await asio::async_write(stream_, line, as_tuple);  // if it fails, so does the read
  }
  auto const [bad_body, body_size] =
      co_await beast_http::async_read(stream_, buffer_, parser, as_tuple);
  incoming.is_read = !bad_body;
  if (bad_body) {
    incoming.refusal = refusal_of(bad_body, context_.options);
  } else {
    head.body = std::move(parser.get().body());
    incoming.request = std::move(head);
  }
  co_return incoming;
}

template <class Stream>
asio::awaitable<HttpResponse> HttpConnection<Stream>::answer(HttpRequest request) {
  auto const asked = request.method + " " + request.target.substr(0, request.target.find('?'));
  try {
    auto response = co_await context_.handler(std::move(request));
    co_return response;
  } catch (...) {
    context_.options.report("http answer failed: " + asked + ": " +
                            describe(std::current_exception()));
  }
  co_return problem(500, "the service failed to answer; its log has the reason");
}

template <class Stream>
HttpResponse HttpConnection<Stream>::admitted(HttpResponse response) {
  if (take_listeners_place_()) return response;
  auto const& options = context_.options;
  auto refusal = problem(503,
                         "listeners: found too many, allowed " +
                             std::to_string(options.listeners_of_peer) + " of one client, " +
                             std::to_string(options.listeners) + " in all; retry in 30 s");
  refusal.headers["retry-after"] = "30";
  return refusal;
}

template <class Stream>
asio::awaitable<bool> HttpConnection<Stream>::send(HttpResponse const& response, bool keep_alive) {
  beast_http::response<beast_http::span_body<char const>> message;
  message.version(version_);
  message.result(static_cast<unsigned>(response.status));
  for (auto const& [name, value] : response.headers)
    message.set(name, value);
  auto const now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
  message.set(beast_http::field::date, fmt::format("{:%a, %d %b %Y %H:%M:%S} GMT", now));
  message.set("X-Content-Type-Options", "nosniff");
  message.keep_alive(keep_alive);
  // In a 304, Content-Length would be the length of the body that is not sent (RFC 9110, 8.6).
  bool const has_length = message.result() != beast_http::status::no_content &&
                          message.result() != beast_http::status::not_modified && !response.more;
  if (has_length) message.content_length(response.text().size());
  message.body() = {response.text().data(), response.text().size()};

  beast_http::response_serializer<beast_http::span_body<char const>> serializer{message};
  line().expires_after(context_.options.write_timeout);
  error_code failed;
  std::size_t size = 0;
  if (is_head_)
    std::tie(failed, size) = co_await beast_http::async_write_header(stream_, serializer, as_tuple);
  else
    std::tie(failed, size) = co_await beast_http::async_write(stream_, serializer, as_tuple);
  co_return !failed;
}

template <class Stream>
asio::awaitable<void> HttpConnection<Stream>::send_more(HttpResponse const& response) {
  using namespace asio::experimental::awaitable_operators;
  auto pieces = send_pieces(response);
  auto leave = wait_for_leave();
  co_await (std::move(pieces) || std::move(leave));
}

template <class Stream>
asio::awaitable<void> HttpConnection<Stream>::send_pieces(HttpResponse const& response) {
  for (bool taken = true; taken;) {
    auto const piece = co_await response.more();
    if (piece.empty()) co_return;
    line().expires_after(context_.options.write_timeout);
    auto const bytes = asio::buffer(piece);
    auto const [failed, size] = co_await asio::async_write(stream_, bytes, as_tuple);
    taken = !failed;
  }
}

template <class Stream>
asio::awaitable<void> HttpConnection<Stream>::wait_for_leave() {
  [[maybe_unused]] auto const [failed] =
      co_await line().socket().async_wait(Socket::wait_read, as_tuple);
}

template <class Stream>
asio::awaitable<void> HttpConnection<Stream>::hang_up() {
  line().expires_after(linger);
  if constexpr (is_tls) {
    [[maybe_unused]] auto const [impolite] = co_await stream_.async_shutdown(as_tuple);
  }
  error_code failed;
  line().socket().shutdown(Socket::shutdown_send, failed);
  std::array<char, 4096> rest{};
  auto const space = asio::buffer(rest);
  while (!failed) {
    std::size_t size = 0;
    std::tie(failed, size) = co_await line().async_read_some(space, as_tuple);
  }
}

template class HttpConnection<PlainStream>;
template class HttpConnection<TlsStream>;

}  // namespace torchwatch::http
