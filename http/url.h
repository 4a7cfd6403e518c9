#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace torchwatch::http {

/// An absolute URL (RFC 3986), as libcurl reads it. Its escapes stay as they are: "%2B" in a path
/// and "+" are two files to some servers.
class Url {
 public:
  /// Nothing when it is not a URL, when libcurl does not support its scheme, or when its host would
  /// change if it were parsed again.
  static std::optional<Url> parse(std::string const& text);

  /// What `reference` means on this page; nothing when it means nothing.
  std::optional<Url> resolve(std::string const& reference) const;

  bool is_http() const { return scheme_ == "http" || scheme_ == "https"; }

  std::string const& scheme() const { return scheme_; }

  /// In lower case, without port; an IPv6 address has its brackets.
  std::string const& host() const { return host_; }

  /// "https://HOST:PORT": URLs with the same origin lead to the same server.
  std::string origin() const { return scheme_ + "://" + host_ + ":" + port_; }

  /// Whether it contains a user name or a password.
  bool has_credentials() const { return has_credentials_; }

  /// Path and query, "/" at least.
  std::string target() const { return query_.empty() ? path_ : path_ + "?" + query_; }

  std::string const& fragment() const { return fragment_; }

  /// The last part of the path, percent-decoded.
  std::string file_name() const;

  /// The whole, without its fragment.
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

/// A URL as people and logs see it: without a password and a query, which may be a key to it (a
/// signed URL). Other text stays as it is.
std::string without_secrets(std::string url);

/// `text` as one component of a path or a query: everything but letters, digits and "-._~" as %XX.
std::string percent_encode(std::string_view text);

}  // namespace torchwatch::http
