#include "daemon/report/feedback.h"

#include <algorithm>
#include <utility>

#include "daemon/report/rulings.h"

namespace torchwatch::report {
namespace asio = boost::asio;

bool Feedback::is_called_false(IncidentId incident) {
  auto const rulings = store_.rulings().on(incident);
  return std::ranges::any_of(
      rulings, [](Ruling const& ruling) { return ruling.kind == RulingKind::false_alarm; });
}

asio::awaitable<Result<>> Feedback::collect() {
  auto const& label = options_.false_alarm_label;
  bool const nothing_published = store_.incidents().all().empty();
  if (options_.repository.empty() || label.empty() || nothing_published) co_return Result<>{};
  auto const connection = Connection::open(options_, network_, options_with_pause(store_, 0));
  if (!connection) co_return connection.error();
  auto const keys = co_await (*connection)->client().keys_labelled(label);
  if (!keys) co_return keys.error();
  for (auto const& key : *keys) {
    auto const incident = store_.incidents().of_report(key);
    if (!incident || is_called_false(incident->id)) continue;
    Ruling ruling;
    ruling.kind = RulingKind::false_alarm;
    ruling.incident = incident->id;
    ruling.who = "GitHub";
    ruling.why = "label " + label + " on " + incident->report;
    auto const given = give_ruling(store_, std::move(ruling), network_.clock.now());
    if (!given) co_return given.error();
  }
  co_return Result<>{};
}

}  // namespace torchwatch::report
