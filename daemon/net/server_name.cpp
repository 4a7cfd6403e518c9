#include "daemon/net/server_name.h"

#include <boost/asio/error.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/system/system_error.hpp>
#include <openssl/ssl.h>

namespace torchwatch::net {

namespace asio = boost::asio;

void announce_server_name(SSL& connection, std::string const& host) {
  boost::system::error_code is_name;
  asio::ip::make_address(host, is_name);
  if (!is_name) return;
  std::string name = host;
  if (SSL_ctrl(&connection, SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name, name.data()) !=
      1)
    throw boost::system::system_error{asio::error::invalid_argument};
}

}  // namespace torchwatch::net
