#include "daemon/report/report_file.h"

#include <string>
#include <system_error>

#include <spdlog/spdlog.h>

#include "github/issue.h"
#include "storage/base/small_file.h"

namespace torchwatch::report {

boost::asio::awaitable<Result<Delivery>> FileDestination::deliver(OutboxMessage const& message,
                                                                  DeliveryContext) {
  bool const is_about_alarm = message.alarm.value != 0;
  auto const name = is_about_alarm ? "alarm-" + std::to_string(message.alarm.value) + ".md"
                                   : "incident-" + std::to_string(message.incident.value) + ".md";
  auto const place = directory_ / name;
  std::error_code ignored;  // the write reports the problem
  std::filesystem::create_directories(directory_, ignored);
  auto const written = write_small_file(place, message.body);
  if (!written) co_return Error{ErrorCode::internal, "write report: " + written.error().message};
  spdlog::info("report_written path={}", place.string());
  auto const key = github::key_in(message.body);
  if (key && !is_about_alarm) store_.incidents().intend_report(message.incident, *key);
  if (!is_about_alarm) store_.incidents().reported(message.incident, place.string());
  Delivery delivery;
  delivery.place = place.string();
  delivery.digest = github::digest_of_body(message.body);
  co_return delivery;
}

}  // namespace torchwatch::report
