#include "daemon/builds/build_request.h"

#include <algorithm>
#include <utility>

namespace torchwatch::builds {
namespace {

using Changed = Result<std::vector<KeptBuild>>;

Changed one_of(Result<KeptBuild> done) {
  if (!done) return done.error();
  return std::vector{std::move(*done)};
}

/// The newest nightly of the date, or the one with the id.
std::optional<Nightly> find_nightly(storage::Store& store, std::string const& called) {
  std::optional<Nightly> found;
  for (auto& nightly : store.nightlies().all())
    if (nightly.date == called || "nightly-" + std::to_string(nightly.id.value) == called)
      found = std::move(nightly);
  return found;
}

bool was_prepared(Nightly const& nightly) {
  return nightly.state != NightlyState::announced && !nightly.prefix.empty();
}

Changed fetch(BuildRequest const& request, BuildStore& builds, storage::Store& store, Pin pin) {
  auto const nightly = find_nightly(store, request.build);
  if (!nightly)
    return Error{ErrorCode::not_found, "no nightly has the date or name \"" + request.build + "\""};
  if (!was_prepared(*nightly))
    return Error{ErrorCode::refused,
                 "nightly " + nightly->date + " never had a build: " +
                     (nightly->failure.empty() ? "it is not prepared yet" : nightly->failure)};
  auto const name = builds.name_of(nightly->prefix);
  if (name.empty())
    return Error{ErrorCode::refused,
                 "nightly " + nightly->date + " was delivered to " + nightly->prefix +
                     ", where nothing is fetched"};
  if (auto pinned = builds.pin(name, pin)) return one_of(std::move(pinned));
  store.kept_builds().want({nightly->id, std::move(pin)});
  return std::vector<KeptBuild>{};
}

std::vector<KeptBuild> prune(BuildStore& builds) {
  std::vector<KeptBuild> removed;
  for (auto& removal : builds.prune())
    removed.push_back(std::move(removal.build));
  return removed;
}

}  // namespace

std::string_view to_string(BuildAction action) {
  switch (action) {
    case BuildAction::pin:
      return "pin";
    case BuildAction::unpin:
      return "unpin";
    case BuildAction::remove:
      return "remove";
    case BuildAction::prune:
      return "prune";
    case BuildAction::fetch:
      return "fetch";
  }
  return "unknown";
}

std::optional<BuildAction> parse_build_action(std::string_view text) {
  using enum BuildAction;
  for (auto const action : {pin, unpin, remove, BuildAction::prune, BuildAction::fetch})
    if (text == to_string(action)) return action;
  return std::nullopt;
}

Changed carry_out(BuildRequest const& request,
                  BuildStore& builds,
                  storage::Store& store,
                  Timestamp now) {
  Pin pin{request.who, request.why, now};
  switch (request.action) {
    case BuildAction::pin:
      return one_of(builds.pin(request.build, std::move(pin)));
    case BuildAction::unpin:
      return one_of(builds.pin(request.build, std::nullopt));
    case BuildAction::remove:
      return one_of(builds.remove(request.build));
    case BuildAction::prune:
      return prune(builds);
    case BuildAction::fetch:
      return fetch(request, builds, store, std::move(pin));
  }
  return Error{ErrorCode::invalid_argument, "no such action"};
}

}  // namespace torchwatch::builds
