#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <boost/asio/ssl/context.hpp>

namespace torchwatch::fakes {

/// The files of a server's TLS identity, in PEM format.
struct ServerIdentity {
  std::filesystem::path ca;  ///< the authority that a client must trust
  std::filesystem::path certificate;
  std::filesystem::path key;
};

/// Makes a new authority and a certificate for `names` (host names and IP addresses), valid
/// from an hour ago for a year. Writes ca.pem, server.pem and server.key into `folder`. Throws
/// runtime_error.
ServerIdentity make_identity(std::filesystem::path const& folder,
                             std::vector<std::string> const& names);

/// Returns the TLS context of a server with this identity. Throws boost::system::system_error when
/// a file cannot be read.
boost::asio::ssl::context context_of(ServerIdentity const& identity);

/// An RSA key as GitHub makes it for an App, in PEM format.
struct AppKey {
  std::string private_key;  ///< in the traditional format, "BEGIN RSA PRIVATE KEY"
  std::string public_key;
};

/// Makes a new key of 2048 bits. Throws runtime_error.
AppKey make_app_key();

}  // namespace torchwatch::fakes
