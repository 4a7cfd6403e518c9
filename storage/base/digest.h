#pragma once

#include <memory>
#include <string>
#include <string_view>

#include <openssl/types.h>

namespace torchwatch {

/// True for 64 lower-case hexadecimal digits.
bool is_sha256(std::string_view text);

/// Returns the HMAC-SHA256 (RFC 2104) of `text` as 64 lower-case hexadecimal digits.
std::string hmac_sha256(std::string_view secret, std::string_view text);

/// Returns URL-safe base64 without padding (RFC 4648, section 5).
std::string base64url(std::string_view bytes);

/// The SHA-256 (FIPS 180-4) of data that is added piece by piece.
class Sha256 {
 public:
  Sha256();

  void add(std::string_view piece);

  /// Returns the hash of all pieces as 64 lower-case hexadecimal digits. The object must not be
  /// used afterwards.
  std::string hex();
  /// Returns the hash of all pieces as in RECORD of a wheel: URL-safe base64 without padding. The
  /// object must not be used afterwards.
  std::string base64url();

 private:
  std::string finish();

  struct Free {
    void operator()(EVP_MD_CTX* context) const;
  };

  std::unique_ptr<EVP_MD_CTX, Free> context_;
};

}  // namespace torchwatch
