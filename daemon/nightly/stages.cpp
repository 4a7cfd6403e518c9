#include "daemon/nightly/stages.h"

#include <set>
#include <string>
#include <vector>

#include <spdlog/spdlog.h>

#include "bisect/compare/baseline.h"
#include "daemon/builds/manifest.h"
#include "daemon/nightly/trust_figures.h"

namespace torchwatch::nightly {
namespace asio = boost::asio;

namespace {

/// Returns the reason why a build cannot be measured any more; empty when it can. A feed may remove
/// its builds, or overwrite them.
std::string what_became_of(Nightly const& nightly) {
  auto const build = builds::read_build_of(nightly);
  if (build || build.error().code == ErrorCode::unavailable) return {};
  return "the build of " + nightly.date + " is no longer there: " + build.error().message;
}

/// Returns the baselines of a nightly and of its series.
std::vector<Nightly> baselines_of(storage::Store& store, Nightly const& nightly) {
  std::set<NightlyId> ids{nightly.baseline.value()};
  for (auto const& [series, baseline] : store.baselines().of(nightly.id))
    ids.insert(baseline);
  std::vector<Nightly> baselines;
  for (auto const id : ids)
    baselines.push_back(store.nightlies().find(id).value());
  return baselines;
}

/// True when more is measured or decided than in the state before: the nightly summaries are then
/// computed again.
bool adds_results(NightlyState state) {
  return state == NightlyState::swept || state == NightlyState::confirmed ||
         state == NightlyState::done;
}

}  // namespace

bool has_ended(NightlyState state) {
  return state == NightlyState::bisected || state == NightlyState::done ||
         state == NightlyState::failed;
}

void move_to(storage::Store& store, Nightly& nightly, NightlyState state) {
  nightly.state = state;
  store.nightlies().update(nightly);
  spdlog::info("nightly_state date={} state={}{}",
               nightly.date,
               to_string(state),
               nightly.failure.empty() ? "" : " reason=\"" + nightly.failure + "\"");
}

asio::awaitable<Result<>> Stages::judge(Nightly& nightly) {
  while (!has_ended(nightly.state)) {
    auto const next = co_await next_state(nightly);
    if (!next) co_return next.error();
    if (adds_results(*next)) {
      store_.histories().keep(nightly.id);
      keep_trust_figures(store_);
    }
    move_to(store_, nightly, *next);
    if (nightly.state == NightlyState::confirmed) break;
  }
  co_return Result<>{};
}

asio::awaitable<Result<NightlyState>> Stages::next_state(Nightly& nightly) {
  switch (nightly.state) {
    case NightlyState::announced:
      co_return co_await prepare(nightly);
    case NightlyState::prepared:
      co_return co_await sweep(nightly);
    case NightlyState::swept:
      co_return screen(nightly);
    case NightlyState::screened:
      co_return co_await confirm(nightly);
    case NightlyState::confirmed:
      co_return co_await investigate(nightly);
    case NightlyState::bisected:
    case NightlyState::done:
    case NightlyState::failed:
      break;
  }
  co_return nightly.state;
}

asio::awaitable<Result<NightlyState>> Stages::prepare(Nightly& nightly) {
  auto const prepared = co_await preparation_.prepare(nightly);
  if (!prepared) co_return prepared.error();
  if (!nightly.failure.empty()) co_return NightlyState::failed;
  // A late edition may correct the report of its date.
  auto const later = store_.nightlies().since(nightly.date);
  if (!bisect::is_late(nightly, later) || bisect::is_edition(nightly, later))
    co_return NightlyState::prepared;
  spdlog::info("nightly_late date={}", nightly.date);
  co_return NightlyState::done;
}

asio::awaitable<Result<NightlyState>> Stages::sweep(Nightly& nightly) {
  nightly.failure = what_became_of(nightly);
  if (!nightly.failure.empty()) co_return NightlyState::failed;
  auto const swept = co_await sweep_.run(nightly);
  if (!swept) co_return swept.error();
  slot_review_.run(nightly);
  // If the build was overwritten meanwhile, it is unknown which build was measured.
  if (nightly.failure.empty()) nightly.failure = what_became_of(nightly);
  co_return nightly.failure.empty() ? NightlyState::swept : NightlyState::failed;
}

NightlyState Stages::screen(Nightly const& nightly) {
  auto const baseline =
      nightly.baseline ? store_.nightlies().find(*nightly.baseline) : std::nullopt;
  if (!baseline) verdicts_.cannot_compare(nightly);
  if (!baseline) return NightlyState::done;
  bool const has_older_baselines = !store_.baselines().of(nightly.id).empty();
  if (baseline->commit == nightly.commit && !has_older_baselines) return NightlyState::done;
  verdicts_.check_sweep(nightly, *baseline);
  return NightlyState::screened;
}

asio::awaitable<Result<NightlyState>> Stages::confirm(Nightly& nightly) {
  auto const baseline = store_.nightlies().find(nightly.baseline.value()).value();
  auto compared = baselines_of(store_, nightly);
  compared.push_back(nightly);
  for (auto const& one : compared)
    if (nightly.failure.empty()) nightly.failure = what_became_of(one);
  if (!nightly.failure.empty()) co_return NightlyState::failed;
  auto const any = co_await verdicts_.confirm(nightly, baseline);
  if (!any) co_return any.error();
  if (*any) co_return NightlyState::confirmed;
  // A nightly with an incident needs builds for its bisection, which teach as much.
  auto const rebuilt = co_await rebuilds_.compare(nightly);
  if (!rebuilt) co_return rebuilt.error();
  auto const profiled = co_await suite_profile_.run(nightly);
  if (!profiled) co_return profiled.error();
  co_return NightlyState::done;
}

asio::awaitable<Result<NightlyState>> Stages::investigate(Nightly const& nightly) {
  auto const investigated = co_await investigation_.run(nightly);
  if (!investigated) co_return investigated.error();
  co_return NightlyState::bisected;
}

}  // namespace torchwatch::nightly
