#include "daemon/http/server_tls.h"

#include <cstddef>
#include <ctime>
#include <utility>

#include <boost/asio/buffer.hpp>
#include <boost/asio/ssl/error.hpp>
#include <openssl/asn1.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include "storage/base/small_file.h"

namespace torchwatch::http {

namespace ssl = boost::asio::ssl;
using boost::system::error_code;

namespace {

/// Enough for any chain of certificates.
constexpr std::size_t most_bytes = std::size_t{1} << 20;

Error bad_file(std::string const& file, error_code const& found, std::string const& allowed) {
  return {ErrorCode::invalid_argument,
          file + ": found " + found.message() + ", allowed " + allowed};
}

/// Reads a file. If OpenSSL opened it and it was a pipe, it would wait until a program writes to
/// it.
Result<std::string> text_of(std::string const& file, std::string const& allowed) {
  auto text = read_small_file(file, most_bytes);
  if (text) return text;
  return Error{ErrorCode::invalid_argument, text.error().message + ", allowed " + allowed};
}

/// Returns the oldest error in OpenSSL's queue.
error_code openssl_error() {
  return {static_cast<int>(ERR_get_error()), boost::asio::error::get_ssl_category()};
}

/// Returns an error if key and certificate do not match. OpenSSL accepts a key of another kind
/// without an error.
error_code mismatch_in(ssl::context& context) {
  if (SSL_CTX_check_private_key(context.native_handle()) == 1) return {};
  return openssl_error();
}

Result<> use_certificate(ssl::context& context, std::string const& file) {
  std::string const allowed = "a chain of certificates, PEM";
  auto const text = text_of(file, allowed);
  if (!text) return text.error();
  error_code bad;
  context.use_certificate_chain(boost::asio::buffer(*text), bad);
  if (!bad) return {};
  // Asio's error only names the part of OpenSSL that failed. The queue has the reason.
  if (ERR_peek_error() != 0) bad = openssl_error();
  return bad_file(file, bad, allowed);
}

Result<> use_key(ssl::context& context, TlsFiles const& files) {
  auto const allowed = "the private key of " + files.certificate + ", PEM, without a password";
  auto const text = text_of(files.key, allowed);
  if (!text) return text.error();
  error_code bad;
  context.use_private_key(boost::asio::buffer(*text), ssl::context::pem, bad);
  if (!bad) bad = mismatch_in(context);
  if (bad) return bad_file(files.key, bad, allowed);
  return {};
}

Result<ssl::context> context_of(TlsFiles const& files) {
  ssl::context context{ssl::context::tls_server};
  if (SSL_CTX_set_min_proto_version(context.native_handle(), TLS1_2_VERSION) != 1)
    return Error{ErrorCode::internal, "OpenSSL: cannot require TLS 1.2"};
  SSL_CTX_set_options(context.native_handle(), SSL_OP_NO_RENEGOTIATION);
  // Without it, OpenSSL would prompt for a password at the terminal.
  context.set_password_callback(
      [](std::size_t, ssl::context::password_purpose) { return std::string{}; });
  ERR_clear_error();
  if (auto const used = use_certificate(context, files.certificate); !used) return used.error();
  if (auto const used = use_key(context, files); !used) return used.error();
  return context;
}

}  // namespace

ServerTls::Stamp ServerTls::stamp_of(std::string const& file) {
  struct stat found {};

  if (::stat(file.c_str(), &found) != 0) return {};
  return {found.st_dev, found.st_ino, found.st_size, found.st_ctim.tv_sec, found.st_ctim.tv_nsec};
}

std::pair<ServerTls::Stamp, ServerTls::Stamp> ServerTls::stamps_of(TlsFiles const& files) {
  return {stamp_of(files.certificate), stamp_of(files.key)};
}

Result<ServerTls> ServerTls::open(TlsFiles files) {
  auto const seen = stamps_of(files);  // before reading, so that renew() finds later changes
  auto context = context_of(files);
  if (!context) return context.error();
  return ServerTls{std::move(files), std::move(*context), seen};
}

ServerTls::ServerTls(TlsFiles files, ssl::context context, std::pair<Stamp, Stamp> seen)
    : files_{std::move(files)},
      context_{std::move(context)},
      seen_{std::move(seen)} {}

Result<> ServerTls::renew() {
  auto const now = stamps_of(files_);
  if (now == seen_) return {};
  seen_ = now;
  auto context = context_of(files_);
  if (!context) return context.error();
  context_ = std::move(*context);
  return {};
}

std::chrono::sys_seconds ServerTls::expires() {
  auto const* const certificate = SSL_CTX_get0_certificate(context_.native_handle());
  std::tm end{};
  ASN1_TIME_to_tm(X509_get0_notAfter(certificate), &end);
  return std::chrono::sys_seconds{std::chrono::seconds{::timegm(&end)}};
}

}  // namespace torchwatch::http
