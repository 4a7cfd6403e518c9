#include "github/url.h"

#include <algorithm>
#include <charconv>
#include <cstdint>

namespace torchwatch::github {
namespace {

bool is_plain(char c) {
  return c > ' ' && c < '\x7f';
}

bool is_port(std::string_view text) {
  std::uint16_t number = 0;
  auto const [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  return failure == std::errc{} && end == text.data() + text.size() && number != 0;
}

/// Where the host ends inside HOST[:PORT].
std::size_t end_of_host(std::string_view authority) {
  if (!authority.starts_with('[')) return std::min(authority.find(':'), authority.size());
  auto const bracket = authority.find(']');
  return bracket == std::string_view::npos ? authority.size() : bracket + 1;
}

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

}  // namespace

Result<Url> parse_url(std::string_view text) {
  Error bad{ErrorCode::invalid_argument,
            "URL \"" + std::string{text} + "\": want https://HOST[:PORT][/PATH]"};
  constexpr std::string_view scheme = "https://";
  if (!text.starts_with(scheme) || !std::ranges::all_of(text, is_plain)) return bad;
  text = text.substr(scheme.size(), text.find('#') - scheme.size());

  auto const authority = text.substr(0, text.find_first_of("/?"));
  auto const target = text.substr(authority.size());
  auto host = authority.substr(0, end_of_host(authority));
  auto const rest = authority.substr(host.size());
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  if (host.empty() || host.find_first_of("@[]\\") != std::string_view::npos) return bad;
  if (!rest.empty() && (rest.front() != ':' || !is_port(rest.substr(1)))) return bad;

  Url url;
  url.host = host;
  std::ranges::transform(url.host, url.host.begin(), lower);
  if (!rest.empty()) url.port = rest.substr(1);
  if (!target.empty()) url.target = target.front() == '?' ? "/" + std::string{target} : target;
  return url;
}

bool same_origin(Url const& one, Url const& other) {
  return one.host == other.host && one.port == other.port;
}

std::string percent_encode(std::string_view text) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  constexpr std::string_view kept =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";
  std::string encoded;
  for (char const c : text) {
    if (kept.find(c) != std::string_view::npos) {
      encoded += c;
      continue;
    }
    auto const byte = static_cast<unsigned char>(c);
    encoded += {'%', digits[byte >> 4U], digits[byte & 15U]};
  }
  return encoded;
}

}  // namespace torchwatch::github
