#include <cmath>

#include <nlohmann/json.hpp>

#include "daemon/measure/job.h"
#include "runner/acceptance.h"
#include "runner/protocol.h"
#include "tests/fuzz/property.h"
#include "tests/fuzz/targets.h"

namespace torchwatch::fuzz {
namespace {

using nlohmann::json;

protocol::Job asked_of_worker() {
  protocol::Job job;
  job.id = "1";
  job.benchmark = "test_eval[resnet18-cpu-eager]";
  return job;
}

/// Checks the values that the service keeps of a result that the runner accepts.
void check_outcome(protocol::Outcome const& outcome) {
  if (!runner::check_outcome(outcome, asked_of_worker()).empty()) return;
  auto const kept = measure::outcome_from({}, outcome, {});
  require(json::parse(kept.fingerprint).is_object(), "a fingerprint can be read again");
  for (auto const& [metric, value] : kept.values) {
    require(std::isfinite(value.value), "a measured value is finite");
    for (auto const place : value.outliers)
      require(place >= 0 && static_cast<std::size_t>(place) < value.samples.size(),
              "outliers are samples");
  }
}

/// Removes the text of a failure, because encoding shortens it.
json without_text(json message) {
  if (message.is_object()) message.erase("text");
  return message;
}

}  // namespace

/// A line between runner and worker, or between service and runner, in either direction.
void worker_line(std::string_view input) {
  std::string const line{input};
  protocol::Message message;
  try {
    message = protocol::decode(line);
  } catch (protocol::ProtocolError const&) {
    return;
  }
  auto const said = protocol::encode(message);
  require(said.find('\n') == std::string::npos, "a message is one line");
  require(agrees(without_text(json::parse(line)), without_text(json::parse(said))),
          "values are kept as sent");
  require(protocol::encode(protocol::decode(said)) == said,
          "a written message is read as an equal one");
  if (auto const* const outcome = std::get_if<protocol::Outcome>(&message)) check_outcome(*outcome);
}

}  // namespace torchwatch::fuzz
