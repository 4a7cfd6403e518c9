#include <sstream>

#include "daemon/measure/job.h"
#include "daemon/measure/round_replies.h"
#include "tests/fuzz/property.h"
#include "tests/fuzz/targets.h"

namespace torchwatch::fuzz {
namespace {

protocol::Round round_of_two() {
  protocol::Round round;
  round.jobs.resize(2);
  for (std::size_t at = 0; at < round.jobs.size(); ++at) {
    round.jobs[at].id = std::to_string(at + 1);
    round.jobs[at].benchmark = "test_eval[resnet18-cpu-eager]";
  }
  return round;
}

void check_answer(protocol::Message const& answer) {
  auto const kept = measure::outcome_from({}, answer, {});
  require(kept.ok() == kept.error.empty() || kept.values.empty(),
          "an answer has values or an error");
  require(!kept.ok() || kept.values.contains(Metric::latency), "a successful answer has a latency");
  if (auto const levels = measure::levels_in(std::span{&kept, 1}, Metric::latency))
    require(levels->size() == 1, "an answer has one level");
}

}  // namespace

/// All lines that a runner sends to the service about a round of two jobs.
void runner_line(std::string_view input) {
  measure::RoundReplies replies{round_of_two()};
  std::istringstream stream{std::string{input}};
  auto const ignore = [](protocol::Progress const&) {
  };
  for (std::string line; !replies.are_complete() && std::getline(stream, line);)
    static_cast<void>(replies.take(line, ignore));
  if (!replies.are_complete()) return;
  auto const all = std::move(replies).all();
  require(all.size() == 2, "each job has one answer");
  for (auto const& answer : all)
    check_answer(answer);
}

}  // namespace torchwatch::fuzz
