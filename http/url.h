#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace torchwatch::http {

/// An absolute URL (RFC 3986), parsed by libcurl. Escapes are not changed: "%2B" and "+" in a path
/// are two files to some servers.
class Url {
 public:
  /// Returns nothing if `text` is not a URL, libcurl does not support its scheme, or its host would
  /// change if it were parsed again.
  static std::optional<Url> parse(std::string const& text);

  /// Returns the URL that `reference` has on this page; nothing if it is not a URL.
  std::optional<Url> resolve(std::string const& reference) const;

  bool is_http() const { return scheme_ == "http" || scheme_ == "https"; }

  std::string const& scheme() const { return scheme_; }

  /// The host in lower case, without port. An IPv6 address has its brackets.
  std::string const& host() const { return host_; }

  /// Returns "https://HOST:PORT". URLs with the same origin lead to the same server.
  std::string origin() const { return scheme_ + "://" + host_ + ":" + port_; }

  /// True if the URL contains a user name or a password.
  bool has_credentials() const { return has_credentials_; }

  /// Returns path and query; at least "/".
  std::string target() const { return query_.empty() ? path_ : path_ + "?" + query_; }

  std::string const& fragment() const { return fragment_; }

  /// Returns the last part of the path, percent-decoded.
  std::string file_name() const;

  /// Returns the URL without its fragment.
  std::string without_fragment() const { return text_.substr(0, text_.find('#')); }

  std::string const& text() const { return text_; }

 private:
  Url() = default;

  static std::optional<Url> take_apart(std::string const& base, std::string const& reference);

  std::string text_;
  std::string scheme_;
  std::string host_;
  std::string port_;
  std::string path_;
  std::string query_;
  std::string fragment_;
  bool has_credentials_ = false;
};

/// Returns a URL for logs and messages: without user, password and query, since the query of a
/// signed URL is a secret. Other text is not changed.
std::string without_secrets(std::string url);

/// Encodes `text` as one component of a path or a query: everything except letters, digits and
/// "-._~" becomes %XX.
std::string percent_encode(std::string_view text);

}  // namespace torchwatch::http
