#pragma once

#include <deque>
#include <utility>
#include <vector>

#include "github/transport.h"
#include "tests/fakes/github/request_log.h"

namespace torchwatch::fakes {

/// A transport that records each request and answers it with the next of `replies`.
class FakeTransport final : public github::Transport {
 public:
  boost::asio::awaitable<Result<github::Response>> send(github::Request request) override {
    if (request.url.starts_with("https://api.github.com/")) log_request(request);
    sent.push_back(std::move(request));
    if (replies.empty()) co_return Error{ErrorCode::internal, "no reply was prepared"};
    auto reply = std::move(replies.front());
    replies.pop_front();
    co_return reply;
  }

  std::vector<github::Request> sent;
  std::deque<Result<github::Response>> replies;
};

}  // namespace torchwatch::fakes
