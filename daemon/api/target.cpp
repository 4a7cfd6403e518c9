#include "daemon/api/target.h"

#include <charconv>
#include <utility>

namespace torchwatch::api {
namespace {

/// Returns `text` up to `separator`, and removes both from `text`.
std::string_view take_until(std::string_view& text, char separator) {
  auto const end = text.find(separator);
  auto const piece = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return piece;
}

Result<std::string> decode(std::string_view text) {
  std::string decoded;
  while (!text.empty()) {
    if (text.front() != '%') {
      decoded += text.front();
      text.remove_prefix(1);
      continue;
    }
    auto const digits = text.substr(1, 2);
    unsigned value = 0;
    auto const [end, failed] =
        std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
    if (failed != std::errc{} || digits.size() != 2 || end != digits.data() + 2) {
      return Error{ErrorCode::invalid_argument,
                   "target: found \"" + std::string{text.substr(0, 3)} +
                       "\", allowed % with two hexadecimal digits"};
    }
    decoded += static_cast<char>(value);
    text.remove_prefix(3);
  }
  return decoded;
}

/// Decodes as decode() does, and '+' as a space, as HTML forms encode it.
Result<std::string> decode_form(std::string_view text) {
  std::string spaced{text};
  for (auto& c : spaced)
    if (c == '+') c = ' ';
  return decode(spaced);
}

/// Returns path and query of a target in absolute form, which a server must accept (RFC 9112,
/// section 3.2.2). Other targets are not changed.
std::string_view without_origin(std::string_view text) {
  for (std::string_view const scheme : {"http://", "https://"}) {
    if (!text.starts_with(scheme)) continue;
    auto const path = text.find('/', scheme.size());
    return path == std::string_view::npos ? "/" : text.substr(path);
  }
  return text;
}

}  // namespace

Result<Target> parse_target(std::string_view text) {
  auto query = without_origin(text);
  auto path = take_until(query, '?');
  if (!path.starts_with('/')) {
    return Error{ErrorCode::invalid_argument,
                 "target: found \"" + std::string{path.substr(0, 60)} +
                     "\", allowed a path that begins with /"};
  }
  Target target;
  while (!path.empty()) {
    path.remove_prefix(1);
    auto const piece = path.substr(0, path.find('/'));
    auto segment = decode(piece);
    if (!segment) return segment.error();
    target.path.push_back(std::move(*segment));
    path.remove_prefix(piece.size());
  }
  while (!query.empty()) {
    auto value = take_until(query, '&');
    auto const name = decode_form(take_until(value, '='));
    auto const content = decode_form(value);
    if (!name) return name.error();
    if (!content) return content.error();
    if (!target.query.emplace(*name, *content).second) {
      return Error{ErrorCode::invalid_argument,
                   "query: found parameter \"" + name->substr(0, 60) + "\" twice, allowed once"};
    }
  }
  return target;
}

}  // namespace torchwatch::api
