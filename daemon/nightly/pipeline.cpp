#include "daemon/nightly/pipeline.h"

#include <set>

#include "bisect/compare/baseline.h"
#include "daemon/nightly/trust_figures.h"

namespace torchwatch::nightly {
namespace asio = boost::asio;

namespace {

/// True when a nightly that cannot be judged now does not delay later ones: a missing edition of a
/// nightly that has ended.
bool waits_alone(storage::Store& store, Nightly const& nightly) {
  return nightly.state == NightlyState::announced &&
         bisect::is_edition(nightly, store.nightlies().since(nightly.date));
}

}  // namespace

asio::awaitable<Result<>> Pipeline::pass() {
  auto const looked = co_await announcer_.look();
  alarms_.check_feed(announcer_.odd(), announcer_.newer());
  // A kill may have come between the state and its alarm.
  check_end();
  // Findings are published even if later nightlies fail.
  auto published = co_await publish();
  Result<> all_came;
  std::set<NightlyId> waiting;
  while (auto nightly = store_.nightlies().next_unfinished(waiting)) {
    auto const judged = co_await stages_.judge(*nightly);
    alarms_.check_wait(*nightly);
    if (!judged && !waits_alone(store_, *nightly)) co_return judged.error();
    if (!judged) {
      all_came = judged;
      waiting.insert(nightly->id);
      continue;
    }
    check_end();
    auto const now = co_await publish();
    if (!now) published = now;
  }
  if (!looked) co_return looked.error();
  co_return all_came ? published : all_came;
}

/// Checks only the newest nightly: a late one has no news.
void Pipeline::check_end() {
  if (auto const last = store_.nightlies().last_ended()) alarms_.check_end(*last);
}

/// Stores what follows for incidents, and sends it. Nightlies whose events are stored are done.
asio::awaitable<Result<>> Pipeline::publish() {
  auto const followed = co_await life_.follow();
  keep_incident_months(store_);
  for (auto& nightly : store_.nightlies().investigated())
    move_to(store_, nightly, NightlyState::done);
  auto const sent = co_await sender_.send_due();
  co_return followed ? sent : followed;
}

}  // namespace torchwatch::nightly
