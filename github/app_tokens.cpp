#include "github/app_tokens.h"

#include <chrono>
#include <memory>
#include <utility>

#include "github/jwt.h"
#include "storage/base/small_file.h"

namespace torchwatch::github {
namespace {

using boost::asio::awaitable;

/// A token is renewed so long before its end.
constexpr std::chrono::minutes renewed_before{5};

/// The JSON Web Tokens of an App, a new one for each request.
class AppJwts final : public TokenSource {
 public:
  /// All arguments must outlive it.
  AppJwts(AppOptions const& options, Clock const& clock) : options_{options}, clock_{clock} {}

  awaitable<Result<std::string>> token() override { co_return signed_now(); }

 private:
  Result<std::string> signed_now() const {
    auto const key = read_small_file(options_.key_file);
    if (!key) {
      // Not `not_found`, which means that the App is not installed.
      bool const is_temporary = key.error().code == ErrorCode::unavailable;
      auto const code = is_temporary ? ErrorCode::unavailable : ErrorCode::invalid_argument;
      return Error{code, "private key " + key.error().message};
    }
    auto jwt = app_jwt(options_.client_id, *key, clock_.now());
    if (!jwt) return within("private key " + options_.key_file.string(), jwt.error());
    return jwt;
  }

  AppOptions const& options_;
  Clock const& clock_;
};

}  // namespace

AppTokens::AppTokens(OpenTransport open_transport,
                     Clock const& clock,
                     Sleeper sleep,
                     AppOptions options)
    : open_transport_{std::move(open_transport)},
      clock_{clock},
      sleep_{std::move(sleep)},
      options_{std::move(options)} {}

awaitable<Result<std::string>> AppTokens::token() {
  if (token_ && clock_.now() + renewed_before < token_->expires_at) co_return token_->value;
  auto const made = co_await request_token();
  if (!made) co_return within("token of the GitHub App", made.error());
  token_ = *made;
  co_return made->value;
}

bool AppTokens::drop(std::string const& rejected) {
  // Another request may have renewed it since.
  if (token_ && token_->value == rejected) token_.reset();
  return true;
}

std::string AppTokens::login() const {
  return installation_ && !installation_->slug.empty() ? installation_->slug + "[bot]" : "";
}

awaitable<Result<InstallationToken>> AppTokens::request_token() {
  auto const transport = open_transport_();
  Client client{*transport, clock_, sleep_, client_options()};
  if (!installation_) {
    auto const found = co_await client.installation(options_.installation);
    if (!found) co_return found.error();
    installation_ = *found;
  }
  auto const made = co_await client.installation_token(installation_->id);
  // The App may have been installed again, under another number.
  if (!made && made.error().code == ErrorCode::not_found) installation_.reset();
  co_return made;
}

ClientOptions AppTokens::client_options() {
  auto options = options_.client;
  options.tokens = std::make_shared<AppJwts>(options_, clock_);
  options.not_before = not_before_;
  options.retries = 0;  // the client that needs the token repeats
  options.on_limit = [this](Timestamp end) {
    not_before_ = end;
  };
  return options;
}

}  // namespace torchwatch::github
