#include "daemon/metrics/counted_transport.h"

#include <charconv>
#include <string>
#include <system_error>

namespace torchwatch::metrics {
namespace {

void note_limit(github::Response const& response, Counters& counters) {
  auto const found = response.headers.find("x-ratelimit-remaining");
  if (found == response.headers.end()) return;
  auto const& text = found->second;
  int remaining = 0;
  auto const [end, failed] = std::from_chars(text.data(), text.data() + text.size(), remaining);
  if (failed == std::errc{}) counters.github_limit(remaining);
}

}  // namespace

boost::asio::awaitable<Result<github::Response>> CountedTransport::send(github::Request request) {
  auto const method = request.method;
  auto response = co_await transport_->send(std::move(request));
  counters_.github_request(method, response ? response->status : 0);
  if (response) note_limit(*response, counters_);
  co_return response;
}

}  // namespace torchwatch::metrics
