#pragma once

#include <cstdint>
#include <string>

#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>

#include "tests/api/http_client.h"

namespace torchwatch::tests {

/// A blocking client that uses one version of TLS with any cipher, and trusts all certificates.
class TlsClient {
 public:
  /// Connects with a `version` such as TLS1_2_VERSION.
  explicit TlsClient(std::uint16_t port, int version = TLS1_3_VERSION) {
    auto* const native = stream_.native_handle();
    SSL_set_min_proto_version(native, version);
    SSL_set_max_proto_version(native, version);
    SSL_set_cipher_list(native, "ALL:@SECLEVEL=0");
    stream_.lowest_layer().connect({boost::asio::ip::address_v4::loopback(), port});
  }

  /// Returns the agreed version, such as "TLSv1.3", or the reason of the failure.
  std::string shake_hands() {
    boost::system::error_code failed;
    stream_.handshake(boost::asio::ssl::stream_base::client, failed);
    return failed ? failed.message() : SSL_get_version(stream_.native_handle());
  }

  /// Sends a request after the handshake. Status 0: the server closed the connection.
  Answer ask(std::string const& request) {
    namespace beast_http = boost::beast::http;
    boost::system::error_code failed;
    boost::asio::write(stream_, boost::asio::buffer(request), failed);
    beast_http::response<beast_http::string_body> response;
    beast_http::read(stream_, buffer_, response, failed);
    if (failed) return {};
    return {static_cast<int>(response.result_int()), {}, response.body()};
  }

 private:
  boost::asio::io_context loop_{1};
  boost::asio::ssl::context context_{boost::asio::ssl::context::tls_client};
  boost::asio::ssl::stream<boost::asio::ip::tcp::socket> stream_{loop_, context_};
  boost::beast::flat_buffer buffer_;
};

}  // namespace torchwatch::tests
