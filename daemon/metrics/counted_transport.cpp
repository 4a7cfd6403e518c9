#include "daemon/metrics/counted_transport.h"

#include <string>

#include "storage/base/number.h"

namespace torchwatch::metrics {
namespace {

void note_limit(github::Response const& response, Counters& counters) {
  auto const found = response.headers.find("x-ratelimit-remaining");
  if (found == response.headers.end()) return;
  if (auto const remaining = parse_number<int>(found->second)) counters.github_limit(*remaining);
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
