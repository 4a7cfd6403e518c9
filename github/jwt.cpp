#include "github/jwt.h"

#include <chrono>
#include <memory>

#include <nlohmann/json.hpp>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>

#include "storage/base/digest.h"

namespace torchwatch::github {
namespace {

constexpr std::chrono::seconds before_now{60};
constexpr std::chrono::seconds after_now{540};

struct FreeOfOpenssl {
  void operator()(BIO* object) const { BIO_free(object); }

  void operator()(EVP_PKEY* object) const { EVP_PKEY_free(object); }

  void operator()(EVP_MD_CTX* object) const { EVP_MD_CTX_free(object); }
};

template <class T>
using Owned = std::unique_ptr<T, FreeOfOpenssl>;

/// Without it, OpenSSL would ask for the password of a key on the terminal.
int no_password(char* /*buffer*/, int /*size*/, int /*for_writing*/, void* /*data*/) {
  return -1;
}

/// Null when the text is not an RSA key without a password.
Owned<EVP_PKEY> rsa_key_in(std::string const& pem) {
  Owned<BIO> const text{BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size()))};
  if (!text) return nullptr;
  Owned<EVP_PKEY> key{PEM_read_bio_PrivateKey(text.get(), nullptr, no_password, nullptr)};
  ERR_clear_error();  // a later call of libcurl would report it
  if (key && EVP_PKEY_is_a(key.get(), "RSA") != 1) key.reset();
  return key;
}

/// Returns the RS256 signature; empty when OpenSSL cannot sign.
std::string signature_of(std::string const& text, EVP_PKEY& key) {
  Owned<EVP_MD_CTX> const context{EVP_MD_CTX_new()};
  auto const* const bytes = reinterpret_cast<unsigned char const*>(text.data());
  std::size_t size = 0;
  if (!context || EVP_DigestSignInit(context.get(), nullptr, EVP_sha256(), nullptr, &key) != 1 ||
      EVP_DigestSign(context.get(), nullptr, &size, bytes, text.size()) != 1)
    return {};
  std::string signature(size, '\0');
  auto* const place = reinterpret_cast<unsigned char*>(signature.data());
  if (EVP_DigestSign(context.get(), place, &size, bytes, text.size()) != 1) return {};
  signature.resize(size);
  return signature;
}

}  // namespace

Result<std::string> app_jwt(std::string const& client_id,
                            std::string const& private_key,
                            Timestamp now) {
  auto const key = rsa_key_in(private_key);
  if (!key)
    return Error{ErrorCode::invalid_argument,
                 "found another text, allowed is an RSA key in PEM format without a password, as "
                 "GitHub makes it for an App"};
  nlohmann::json const claims{{"iat", (now - before_now).time_since_epoch().count()},
                              {"exp", (now + after_now).time_since_epoch().count()},
                              {"iss", client_id}};
  auto text = base64url(R"({"alg":"RS256","typ":"JWT"})") + "." + base64url(claims.dump());
  auto const signature = signature_of(text, *key);
  if (signature.empty()) return Error{ErrorCode::internal, "OpenSSL cannot sign with this key"};
  return text + "." + base64url(signature);
}

}  // namespace torchwatch::github
