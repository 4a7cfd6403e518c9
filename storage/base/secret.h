#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "storage/base/result.h"

namespace torchwatch {

/// What somebody is known by. Never logged, and in no message.
struct Secret {
  std::string value;    ///< one word of visible ASCII, so that it cannot break out of a header
  std::string warning;  ///< one line for the log when it lies open to others; empty otherwise
};

/// The only word of `text`. Fails with invalid_argument, naming `whose` ("GitHub token in variable
/// X"), when there is none, several, or other characters.
Result<Secret> secret_in(std::string_view text, std::string const& whose);

/// The only word of a file. `whose`: "GitHub token". Fails with not_found when it does not exist,
/// with invalid_argument when it cannot be read or does not hold one word.
Result<Secret> read_secret(std::filesystem::path const& file, std::string const& whose);

/// The only word of a file with a token that clients show to the service. Fails as read_secret
/// does, and with invalid_argument when the word has fewer than 16 characters: such a token can be
/// guessed.
Result<Secret> read_bearer_token(std::filesystem::path const& file, std::string const& whose);

/// One line for the log when every user can read the file that `what` names ("private key of
/// http.tls"); empty otherwise, and when there is none.
std::string exposure_of(std::filesystem::path const& file, std::string const& what);

}  // namespace torchwatch
