#include "daemon/report/webhook.h"

#include <optional>
#include <string>
#include <utility>

#include "github/answer.h"
#include "github/issue.h"
#include "http/url.h"
#include "storage/base/digest.h"
#include "storage/base/secret.h"

namespace torchwatch::report {
namespace {

/// The origin alone: the path of a webhook is often a secret.
std::string shown_webhook(std::string const& url) {
  auto const parsed = http::Url::parse(url);
  return parsed ? parsed->origin() : "webhook";
}

github::Request webhook_request(std::string const& url,
                                OutboxMessage const& message,
                                std::string const& secret) {
  github::Request request{"POST", url, {}, message.body};
  request.headers = {{"Content-Type", "application/json"},
                     {"User-Agent", "torchwatch"},
                     {"X-Torchwatch-Delivery", std::string{github::digits_in(message.marker)}},
                     {"X-Torchwatch-Signature-256", signature_of(message.body, secret)}};
  return request;
}

/// The error of a response that is not a success. The receiver may succeed later with 408, 429 and
/// 5xx.
Error refusal_of(github::Response const& response, std::string const& receiver) {
  bool const is_temporary =
      response.status == 408 || response.status == 429 || response.status >= 500;
  auto const code = is_temporary ? ErrorCode::unavailable : ErrorCode::refused;
  return {code, receiver + ": HTTP " + std::to_string(response.status)};
}

}  // namespace

std::string signature_of(std::string_view body, std::string_view secret) {
  return "sha256=" + hmac_sha256(secret, body);
}

boost::asio::awaitable<Result<Delivery>> WebhookDestination::deliver(OutboxMessage const& message,
                                                                     DeliveryContext context) {
  auto const secret = read_secret(options_.secret_file, "secret of publish.webhook");
  if (!secret) co_return secret.error();
  auto const receiver = shown_webhook(options_.url);
  auto request = webhook_request(options_.url, message, secret->value);
  auto const transport = network_.open_transport();
  if (context.sent.store) context.sent.store(network_.clock.now());
  auto const response = co_await transport->send(std::move(request));
  if (!response) co_return response.error();
  bool const has_arrived = response->status >= 200 && response->status < 300;
  if (!has_arrived) co_return refusal_of(*response, receiver);
  Delivery delivery;
  delivery.place = receiver;
  co_return delivery;
}

}  // namespace torchwatch::report
