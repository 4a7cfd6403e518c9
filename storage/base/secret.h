#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "storage/base/result.h"

namespace torchwatch {

/// A token or password. Logs and messages never contain it.
struct Secret {
  std::string value;    ///< one word of visible ASCII, so it cannot end a header line
  std::string warning;  ///< one line for the log when other users can read it; empty otherwise
};

/// Returns the only word of `text`. Fails with invalid_argument, naming `whose` ("GitHub token in
/// variable X"), when `text` has no word, several words, or other characters.
Result<Secret> secret_in(std::string_view text, std::string const& whose);

/// Returns the only word of a file. `whose`: "GitHub token". Fails with not_found when the file
/// does not exist. Fails with invalid_argument when it cannot be read or does not contain one word.
Result<Secret> read_secret(std::filesystem::path const& file, std::string const& whose);

/// Returns the only word of a file with a token that clients send to the service. Fails like
/// read_secret(), and with invalid_argument when the word has fewer than 16 characters, because
/// such a token can be guessed.
Result<Secret> read_bearer_token(std::filesystem::path const& file, std::string const& whose);

/// Returns one line for the log when all users can read the file. Returns an empty text otherwise,
/// and when there is no such file. `what`: "private key of http.tls".
std::string exposure_of(std::filesystem::path const& file, std::string const& what);

}  // namespace torchwatch
