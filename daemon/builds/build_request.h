#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/builds/build_store.h"
#include "storage/store.h"

namespace torchwatch::builds {

/// The requests about builds that a user may send.
enum class BuildAction {
  pin,     ///< keep the build, however large it is
  unpin,   ///< let the build be removed like others
  remove,  ///< remove the build now, if it has no users
  prune,   ///< remove builds now until quota and free space are kept
  fetch,   ///< fetch or make a nightly's build again, and pin it
};

std::string_view to_string(BuildAction action);
std::optional<BuildAction> parse_build_action(std::string_view text);

struct BuildRequest {
  BuildAction action = BuildAction::prune;
  /// A build's name. For fetch: a nightly's date, or its id as in "nightly-12". For prune: empty.
  std::string build;
  std::string who;  ///< for pin and fetch
  std::string why;  ///< for pin and fetch
};

/// Does what `request` says, and returns the builds that it changed. Only stores the request to
/// fetch a missing build, and returns none: nightly::WantedBuilds::bring() fetches it.
///
/// Fails with not_found, with unavailable, or with refused, which names the users of a build to be
/// removed.
Result<std::vector<KeptBuild>> carry_out(BuildRequest const& request,
                                         BuildStore& builds,
                                         storage::Store& store,
                                         Timestamp now);

}  // namespace torchwatch::builds
