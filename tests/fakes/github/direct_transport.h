#pragma once

#include <string>
#include <utility>

#include <boost/algorithm/string/case_conv.hpp>

#include "github/transport.h"
#include "tests/fakes/github/fake_github.h"

namespace torchwatch::fakes {

/// A transport that passes requests for https://api.github.com to a FakeGithub, without a network.
class DirectTransport final : public github::Transport {
 public:
  /// `github` must outlive this object.
  explicit DirectTransport(FakeGithub& github) : github_{github} {}

  boost::asio::awaitable<Result<github::Response>> send(github::Request request) override {
    github::Request wire{request.method, request.url.substr(host().size()), {}, request.body};
    for (auto const& [name, value] : request.headers)
      wire.headers[boost::to_lower_copy(name)] = value;
    auto reply = github_.handle(wire, host());
    if (reply.drop) co_return Error{ErrorCode::unavailable, "connection lost"};
    co_return std::move(reply.response);
  }

  static std::string host() { return "https://api.github.com"; }

 private:
  FakeGithub& github_;
};

}  // namespace torchwatch::fakes
