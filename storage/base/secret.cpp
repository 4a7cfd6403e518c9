#include "storage/base/secret.h"

#include <algorithm>
#include <system_error>

#include "storage/base/small_file.h"

namespace torchwatch {
namespace {

namespace fs = std::filesystem;

/// The longest secret, much longer than any token of GitHub. A wrong, large file is not read whole.
constexpr std::size_t longest = std::size_t{16} * 1024;
/// The shortest bearer token. Shorter ones can be guessed at some thousand attempts a second.
constexpr std::size_t shortest_token = 16;

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blanks = " \t\r\n";
  auto const first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

}  // namespace

Result<Secret> secret_in(std::string_view text, std::string const& whose) {
  auto const value = trimmed(text);
  auto const invalid = [&whose](std::string const& what) {
    return Error{ErrorCode::invalid_argument, whose + ": " + what};
  };
  if (value.empty()) return invalid("empty");
  if (value.size() > longest) return invalid("longer than 16 KiB");
  if (!std::ranges::all_of(value, [](char c) { return c > ' ' && c < '\x7f'; }))
    return invalid("contains blanks or characters other than visible ASCII");
  return Secret{std::string{value}, {}};
}

Result<Secret> read_secret(fs::path const& file, std::string const& whose) {
  auto const text = read_small_file(file, 2 * longest);
  if (!text) {
    bool const is_there = text.error().code != ErrorCode::not_found;
    return Error{is_there ? ErrorCode::invalid_argument : ErrorCode::not_found,
                 whose + " file " + text.error().message};
  }
  auto secret = secret_in(*text, whose + " in file " + file.string());
  if (secret) secret->warning = exposure_of(file, whose + " file");
  return secret;
}

Result<Secret> read_bearer_token(fs::path const& file, std::string const& whose) {
  auto token = read_secret(file, whose);
  if (!token || token->value.size() >= shortest_token) return token;
  return Error{ErrorCode::invalid_argument,
               whose + " in file " + file.string() + ": found " +
                   std::to_string(token->value.size()) + " characters, allowed are " +
                   std::to_string(shortest_token) + " or more; openssl rand -hex 32 makes one"};
}

std::string exposure_of(fs::path const& file, std::string const& what) {
  std::error_code ignored;
  auto const status = fs::status(file, ignored);
  if (!fs::exists(status)) return {};
  if ((status.permissions() & fs::perms::others_read) == fs::perms::none) return {};
  return what + ' ' + file.string() + " can be read by every user; chmod 600";
}

}  // namespace torchwatch
