#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "github/client.h"
#include "github/token_source.h"

namespace torchwatch::github {

/// A GitHub App, and how its tokens are requested.
struct AppOptions {
  std::string client_id;           ///< or the App's numeric ID
  std::filesystem::path key_file;  ///< its private key, in PEM format
  std::int64_t installation = 0;   ///< 0: GitHub is asked for that of the repository
  ClientOptions client;            ///< address, repository and limits; `tokens` is not used
};

/// The tokens of a GitHub App for one repository. GitHub makes them for an hour. A new one is
/// requested five minutes before the end, and when GitHub rejects one. The private key is read for
/// each request, so a new key needs no restart. Single-threaded.
class AppTokens final : public TokenSource {
 public:
  /// `clock` must outlive it.
  AppTokens(OpenTransport open_transport, Clock const& clock, Sleeper sleep, AppOptions options);

  boost::asio::awaitable<Result<std::string>> token() override;
  bool drop(std::string const& rejected) override;
  /// Returns "SLUG[bot]" after the first token was made.
  std::string login() const override;

 private:
  boost::asio::awaitable<Result<InstallationToken>> request_token();
  ClientOptions client_options();

  OpenTransport open_transport_;
  Clock const& clock_;
  Sleeper sleep_;
  AppOptions options_;
  std::optional<Installation> installation_;
  std::optional<InstallationToken> token_;
  Timestamp not_before_{};  ///< the end of a pause that GitHub asked for
};

}  // namespace torchwatch::github
