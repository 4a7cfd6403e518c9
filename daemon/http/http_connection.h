#pragma once

#include <exception>
#include <functional>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/beast/core/basic_stream.hpp>
#include <boost/beast/core/flat_buffer.hpp>

#include "daemon/http/http_server_options.h"

namespace torchwatch::http {

using PlainStream = boost::beast::basic_stream<boost::asio::generic::stream_protocol>;
using TlsStream = boost::asio::ssl::stream<PlainStream>;

/// The state that all connections of a server share.
struct ServerContext {
  Handler handler;
  HttpServerOptions options;
  bool stopping = false;  ///< true: each response is the last of its connection
};

/// Makes a connection a listener. Returns false if there are too many.
using TakeListenersPlace = std::function<bool()>;

/// Returns the message of an exception, for logs.
std::string describe(std::exception_ptr const& failure);

/// One connection of a client, from the TLS handshake, if there is one, to its end. `Stream` is
/// PlainStream or TlsStream.
template <class Stream>
class HttpConnection {
 public:
  /// `context` must outlive it. `take_listeners_place` is called before a response without an end.
  HttpConnection(Stream stream,
                 ServerContext& context,
                 TakeListenersPlace take_listeners_place = {});

  /// Answers one request after the other. Any cancellation ends the connection while a request is
  /// being received. While a response is being prepared or sent, only a terminal cancellation does.
  boost::asio::awaitable<void> serve();

  /// Responds that there are too many connections. For plain text only: a TLS handshake would take
  /// a connection.
  boost::asio::awaitable<void> refuse();

 private:
  static constexpr bool is_tls = std::is_same_v<Stream, TlsStream>;

  /// A request, or the response to an invalid one; neither if the client has left.
  struct Incoming {
    std::optional<HttpRequest> request;
    std::optional<HttpResponse> refusal;
    bool is_read = false;  ///< read to its end, so that another request may follow
  };

  /// The next step after a response; `nothing` if the client has left.
  enum class Next { request, hang_up, nothing };

  /// Receives one request and sends its response.
  boost::asio::awaitable<Next> converse();
  /// Runs the TLS handshake, if there is one. Returns false if it fails or takes too long.
  boost::asio::awaitable<bool> greet();
  boost::asio::awaitable<Incoming> receive();
  boost::asio::awaitable<HttpResponse> answer(HttpRequest request);
  /// Returns a response without an end, or a 503 problem if there are too many listeners.
  HttpResponse admitted(HttpResponse response);
  /// Returns false if the client did not receive all of it.
  boost::asio::awaitable<bool> send(HttpResponse const& response, bool keep_alive);
  /// Sends the pieces of a response without an end, until the client leaves.
  boost::asio::awaitable<void> send_more(HttpResponse const& response);
  boost::asio::awaitable<void> send_pieces(HttpResponse const& response);
  /// Returns when the client has left, or has sent more bytes.
  boost::asio::awaitable<void> wait_for_leave();
  boost::asio::awaitable<void> hang_up();

  /// The stream that has the time limits.
  PlainStream& line() { return boost::beast::get_lowest_layer(stream_); }

  Stream stream_;
  boost::beast::flat_buffer buffer_;
  ServerContext& context_;
  TakeListenersPlace take_listeners_place_;
  // State of the request in progress:
  unsigned version_ = 11;
  bool is_head_ = false;
  bool keep_alive_ = false;
};

extern template class HttpConnection<PlainStream>;
extern template class HttpConnection<TlsStream>;

}  // namespace torchwatch::http
