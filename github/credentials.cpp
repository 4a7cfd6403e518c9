#include "github/credentials.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <system_error>

namespace torchwatch::github {
namespace {

namespace fs = std::filesystem;

/// Installation tokens may be long, but nothing near this; a wrong file name must not be read
/// whole.
constexpr std::size_t max_token_bytes = std::size_t{16} * 1024;

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blanks = " \t\r\n";
  auto const first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

Result<Token> checked(std::string_view text, std::string const& where) {
  auto const value = trimmed(text);
  auto const invalid = [&where](std::string const& what) {
    return Error{ErrorCode::invalid_argument, "GitHub token in " + where + ": " + what};
  };
  if (value.empty()) return invalid("empty");
  if (value.size() > max_token_bytes) return invalid("longer than 16 KiB");
  if (!std::ranges::all_of(value, [](char c) { return c > ' ' && c < '\x7f'; }))
    return invalid("holds blanks or characters other than visible ASCII");
  return Token{std::string{value}, {}};
}

Result<Token> read_token_file(fs::path const& path) {
  std::error_code failure;
  auto const status = fs::status(path, failure);
  if (!fs::exists(status)) {
    return Error{ErrorCode::not_found, "GitHub token file " + path.string() + ": does not exist"};
  }
  std::ifstream file{path, std::ios::binary};
  std::string text(max_token_bytes + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (fs::is_directory(status) || file.bad() || (file.fail() && !file.eof())) {
    return Error{ErrorCode::invalid_argument,
                 "GitHub token file " + path.string() + ": cannot be read"};
  }
  text.resize(static_cast<std::size_t>(file.gcount()));
  auto token = checked(text, "file " + path.string());
  if (token && (status.permissions() & fs::perms::others_read) != fs::perms::none)
    token->warning = "GitHub token file " + path.string() + " can be read by every user; chmod 600";
  return token;
}

}  // namespace

Result<Token> find_token(config::GithubOptions const& options,
                         std::optional<std::string> const& environment) {
  if (!options.token_file.empty()) return read_token_file(options.token_file);
  if (environment) return checked(*environment, "variable " + options.token_env);
  return Error{ErrorCode::not_found,
               "GitHub token: no token_file is configured and variable " + options.token_env +
                   " is not set"};
}

}  // namespace torchwatch::github
