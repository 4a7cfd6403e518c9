#include "storage/base/digest.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <new>

#include <boost/algorithm/hex.hpp>
#include <openssl/evp.h>
#include <openssl/hmac.h>

namespace torchwatch {
namespace {

std::string hex_of(std::string_view bytes) {
  std::string digits;
  boost::algorithm::hex_lower(bytes.begin(), bytes.end(), std::back_inserter(digits));
  return digits;
}

}  // namespace

bool is_sha256(std::string_view text) {
  auto const is_hex = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
  };
  return text.size() == 64 && std::ranges::all_of(text, is_hex);
}

std::string hmac_sha256(std::string_view secret, std::string_view text) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> code{};
  unsigned size = 0;
  auto const* const done = HMAC(EVP_sha256(),
                                secret.data(),
                                static_cast<int>(secret.size()),
                                reinterpret_cast<unsigned char const*>(text.data()),
                                text.size(),
                                code.data(),
                                &size);
  if (done == nullptr) throw std::bad_alloc{};
  return hex_of({reinterpret_cast<char const*>(code.data()), size});
}

std::string base64url(std::string_view bytes) {
  // Four characters for three bytes, and the zero that OpenSSL adds.
  std::string base64((bytes.size() + 2) / 3 * 4 + 1, '\0');
  auto const length = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(base64.data()),
                                      reinterpret_cast<unsigned char const*>(bytes.data()),
                                      static_cast<int>(bytes.size()));
  base64.resize(static_cast<std::size_t>(length));
  std::ranges::replace(base64, '+', '-');
  std::ranges::replace(base64, '/', '_');
  return base64.substr(0, base64.find('='));
}

void Sha256::Free::operator()(EVP_MD_CTX* context) const {
  EVP_MD_CTX_free(context);
}

Sha256::Sha256() : context_{EVP_MD_CTX_new()} {
  if (!context_ || EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr) != 1)
    throw std::bad_alloc{};
}

void Sha256::add(std::string_view piece) {
  EVP_DigestUpdate(context_.get(), piece.data(), piece.size());
}

std::string Sha256::hex() {
  return hex_of(finish());
}

std::string Sha256::base64url() {
  return torchwatch::base64url(finish());
}

/// Returns the 32 bytes of the hash.
std::string Sha256::finish() {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned size = 0;
  EVP_DigestFinal_ex(context_.get(), digest.data(), &size);
  return {digest.begin(), digest.begin() + size};
}

}  // namespace torchwatch
