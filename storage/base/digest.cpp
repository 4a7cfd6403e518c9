#include "storage/base/digest.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <new>

#include <boost/algorithm/hex.hpp>
#include <openssl/evp.h>

namespace torchwatch {

bool is_sha256(std::string_view text) {
  auto const is_hex = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
  };
  return text.size() == 64 && std::ranges::all_of(text, is_hex);
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
  std::string digits;
  boost::algorithm::hex_lower(finish(), std::back_inserter(digits));
  return digits;
}

std::string Sha256::base64url() {
  auto const bytes = finish();
  std::array<unsigned char, 64> text{};
  auto const length = EVP_EncodeBlock(text.data(),
                                      reinterpret_cast<unsigned char const*>(bytes.data()),
                                      static_cast<int>(bytes.size()));
  std::string base64{text.begin(), text.begin() + length};
  std::ranges::replace(base64, '+', '-');
  std::ranges::replace(base64, '/', '_');
  return base64.substr(0, base64.find('='));
}

/// Returns the 32 bytes of the hash.
std::string Sha256::finish() {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned size = 0;
  EVP_DigestFinal_ex(context_.get(), digest.data(), &size);
  return {digest.begin(), digest.begin() + size};
}

}  // namespace torchwatch
