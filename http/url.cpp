#include "http/url.h"

#include <algorithm>
#include <memory>
#include <new>

#include <boost/algorithm/string/case_conv.hpp>
#include <curl/curl.h>

namespace torchwatch::http {
namespace {

struct Free {
  void operator()(CURLU* url) const { curl_url_cleanup(url); }

  void operator()(char* text) const { curl_free(text); }
};

std::string part_of(CURLU* url, CURLUPart part, unsigned flags = 0) {
  char* text = nullptr;
  if (curl_url_get(url, part, &text, flags) != CURLUE_OK) return {};
  std::unique_ptr<char, Free> const owned{text};
  return owned.get();
}

}  // namespace

std::optional<Url> Url::parse(std::string const& text) {
  return take_apart(text, "");
}

std::optional<Url> Url::resolve(std::string const& reference) const {
  return take_apart(text_, reference);
}

std::optional<Url> Url::take_apart(std::string const& base, std::string const& reference) {
  // libcurl reads up to a null character only.
  if ((base + reference).find('\0') != std::string::npos) return std::nullopt;
  std::unique_ptr<CURLU, Free> const parts{curl_url()};
  if (!parts || curl_url_set(parts.get(), CURLUPART_URL, base.c_str(), 0) != CURLUE_OK)
    return std::nullopt;
  if (!reference.empty() &&
      curl_url_set(parts.get(), CURLUPART_URL, reference.c_str(), 0) != CURLUE_OK)
    return std::nullopt;
  // libcurl unescapes a host, and reads numbers as addresses. It does not do both to one text, so
  // "%33333338" would be one host here and another host when it connects.
  auto const text = part_of(parts.get(), CURLUPART_URL);
  std::unique_ptr<CURLU, Free> const again{curl_url()};
  if (!again || curl_url_set(again.get(), CURLUPART_URL, text.c_str(), 0) != CURLUE_OK ||
      part_of(again.get(), CURLUPART_HOST) != part_of(parts.get(), CURLUPART_HOST))
    return std::nullopt;
  Url url;
  url.text_ = text;
  url.scheme_ = boost::to_lower_copy(part_of(parts.get(), CURLUPART_SCHEME));
  url.host_ = boost::to_lower_copy(part_of(parts.get(), CURLUPART_HOST));
  url.port_ = part_of(parts.get(), CURLUPART_PORT, CURLU_DEFAULT_PORT);
  url.path_ = part_of(parts.get(), CURLUPART_PATH);
  url.query_ = part_of(parts.get(), CURLUPART_QUERY);
  url.fragment_ = part_of(parts.get(), CURLUPART_FRAGMENT);
  url.has_credentials_ = !part_of(parts.get(), CURLUPART_USER).empty() ||
                         !part_of(parts.get(), CURLUPART_PASSWORD).empty();
  return url;
}

std::string Url::file_name() const {
  auto const raw = path_.substr(path_.rfind('/') + 1);
  int size = 0;
  std::unique_ptr<char, Free> const decoded{
      curl_easy_unescape(nullptr, raw.c_str(), static_cast<int>(raw.size()), &size)};
  return decoded ? std::string{decoded.get(), static_cast<std::size_t>(size)} : raw;
}

std::string without_secrets(std::string url) {
  auto const scheme = url.find("://");
  if (scheme == std::string::npos) return url;
  auto const begin = scheme + 3;
  auto const host_end = std::min(url.find_first_of("/?#", begin), url.size());
  auto const user_end = url.rfind('@', host_end);
  if (user_end != std::string::npos && user_end >= begin) url.erase(begin, user_end + 1 - begin);
  auto const query = url.find('?', begin);
  return query == std::string::npos ? url : url.substr(0, query) + "?...";
}

std::string percent_encode(std::string_view text) {
  if (text.empty()) return {};  // libcurl takes a length of 0 as unknown
  std::unique_ptr<char, Free> const encoded{
      curl_easy_escape(nullptr, text.data(), static_cast<int>(text.size()))};
  if (!encoded) throw std::bad_alloc{};
  return encoded.get();
}

}  // namespace torchwatch::http
