#pragma once

#include <string>

#include <openssl/types.h>

namespace torchwatch::net {

/// Tells the server by which name it is called, since it may have a certificate for each. Addresses
/// are no names (RFC 6066, section 3). Throws boost::system::system_error.
void announce_server_name(SSL& connection, std::string const& host);

}  // namespace torchwatch::net
