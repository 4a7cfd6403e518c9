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

/// What all connections of a server share.
struct ServerContext {
  Handler handler;
  HttpServerOptions options;
  bool stopping = false;  ///< each answer is then its connection's last
};

/// Takes a listener's place for a connection; false when there is none.
using TakeListenersPlace = std::function<bool()>;

/// What went wrong, for a report.
std::string describe(std::exception_ptr const& failure);

/// One client, from its TLS handshake, where there is one, to its hanging up. `Stream` is
/// PlainStream or TlsStream.
template <class Stream>
class HttpConnection {
 public:
  /// `context` must outlive it. `take_listeners_place` is called before an answer without an end.
  HttpConnection(Stream stream,
                 ServerContext& context,
                 TakeListenersPlace take_listeners_place = {});

  /// Answers one request after the other. A client that has not been heard out is left at any
  /// cancellation, one that waits for its answer at a terminal one.
  boost::asio::awaitable<void> serve();

  /// Says that there is no place. In plain text only: shaking hands would take one.
  boost::asio::awaitable<void> refuse();

 private:
  static constexpr bool is_tls = std::is_same_v<Stream, TlsStream>;

  /// A request, or the answer to what was none; neither when the client has left.
  struct Incoming {
    std::optional<HttpRequest> request;
    std::optional<HttpResponse> refusal;
    bool is_read = false;  ///< to its end, so that another may follow
  };

  /// What comes after an answer; nothing when the client has left.
  enum class Next { request, hang_up, nothing };

  /// One request and its answer.
  boost::asio::awaitable<Next> converse();
  /// False when the client does not speak TLS as we do, or not in time.
  boost::asio::awaitable<bool> greet();
  boost::asio::awaitable<Incoming> receive();
  boost::asio::awaitable<HttpResponse> answer(HttpRequest request);
  /// An answer without an end, or the refusal of it when the client gets no listener's place.
  HttpResponse admitted(HttpResponse response);
  /// False when the client did not take it.
  boost::asio::awaitable<bool> send(HttpResponse const& response, bool keep_alive);
  /// What follows an answer without an end, for as long as the client listens.
  boost::asio::awaitable<void> send_more(HttpResponse const& response);
  boost::asio::awaitable<void> send_pieces(HttpResponse const& response);
  /// Returns when the client has left, or talks where it should listen.
  boost::asio::awaitable<void> wait_for_leave();
  boost::asio::awaitable<void> hang_up();

  /// Which has the time limits.
  PlainStream& line() { return boost::beast::get_lowest_layer(stream_); }

  Stream stream_;
  boost::beast::flat_buffer buffer_;
  ServerContext& context_;
  TakeListenersPlace take_listeners_place_;
  // of the request in progress:
  unsigned version_ = 11;
  bool is_head_ = false;
  bool keep_alive_ = false;
};

extern template class HttpConnection<PlainStream>;
extern template class HttpConnection<TlsStream>;

}  // namespace torchwatch::http
