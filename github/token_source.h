#pragma once

#include <string>
#include <utility>

#include <boost/asio/awaitable.hpp>

#include "storage/base/result.h"

namespace torchwatch::github {

/// The source of the tokens that requests carry. A client asks it before each request, so a token
/// can be renewed or replaced at any time. Single-threaded.
class TokenSource {
 public:
  virtual ~TokenSource() = default;

  /// Returns the token for a request that is sent now. Fails with `unavailable` when a later call
  /// can succeed by itself. Messages never show a token or a key.
  virtual boost::asio::awaitable<Result<std::string>> token() = 0;

  /// Call when GitHub rejected a token with 401. Returns true when token() then makes a new one.
  virtual bool drop(std::string const& /*rejected*/) { return false; }

  /// Returns the login of the tokens' user; empty when GitHub has to be asked for it.
  virtual std::string login() const { return {}; }
};

/// A token that never changes.
class FixedToken final : public TokenSource {
 public:
  explicit FixedToken(std::string value) : value_{std::move(value)} {}

  boost::asio::awaitable<Result<std::string>> token() override { co_return value_; }

 private:
  std::string value_;
};

}  // namespace torchwatch::github
