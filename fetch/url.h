#pragma once

#include <optional>
#include <string>

namespace torchwatch::fetch {

/// An absolute address (RFC 3986), as libcurl reads it. Its escapes stay as they are: "%2B" in a
/// path and "+" are two files to some servers.
class Url {
 public:
  /// Nothing when it is none, of a scheme that libcurl does not know, or of a host that is another
  /// one when it is read twice.
  static std::optional<Url> parse(std::string const& text);

  /// What `reference` means on this page; nothing when it means nothing.
  std::optional<Url> resolve(std::string const& reference) const;

  bool is_http() const { return scheme_ == "http" || scheme_ == "https"; }

  std::string const& scheme() const { return scheme_; }

  /// In lower case, without port.
  std::string const& host() const { return host_; }

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
  std::string path_;
  std::string fragment_;
};

/// An address as people and logs are told it: without a password and a query, which may be a key to
/// it (a signed URL). Other text stays as it is.
std::string without_secrets(std::string url);

}  // namespace torchwatch::fetch
