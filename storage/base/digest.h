#pragma once

#include <memory>
#include <string>
#include <string_view>

#include <openssl/types.h>

namespace torchwatch {

/// 64 lower-case hexadecimal digits.
bool is_sha256(std::string_view text);

/// The SHA-256 (FIPS 180-4) of what comes piece by piece.
class Sha256 {
 public:
  Sha256();

  void add(std::string_view piece);

  /// Of all pieces: 64 lower-case hexadecimal digits. Nothing may be added afterwards.
  std::string hex();
  /// The same as RECORD of a wheel has it: base64 with the URL's alphabet, without padding.
  std::string base64url();

 private:
  std::string finish();

  struct Free {
    void operator()(EVP_MD_CTX* context) const;
  };

  std::unique_ptr<EVP_MD_CTX, Free> context_;
};

}  // namespace torchwatch
